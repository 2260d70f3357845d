// An editor for bytes. It shows a preview if they are a picture, and can save them to a file and load them from one.

import { element, icon } from "./dom.js";
import { byteCount, sizeText } from "./values.js";

// What base64 makes of the first bytes.
const heads = {
  "image/png": /^iVBORw0KGgo/, "image/jpeg": /^\/9j\//, "image/gif": /^R0lGOD[dl]h/, "image/webp": /^UklGR.{6}XRUJQ/,
};

export function dataEditor(value, { label }) {
  let current = value;
  const preview = element("div", { class: "data-preview" });
  const chooser = element("input", { type: "file", class: "input", "aria-label": `A file for ${label}` });
  const show = () => preview.replaceChildren(...previewOf(current, label));
  chooser.addEventListener("change", async () => {
    const [file] = chooser.files;
    if (!file) return;
    current = { data: await base64(file) };
    show();
  });
  show();
  return {
    node: element("div", { class: "data-editor" }, preview, chooser),
    focus: () => chooser.focus(),
    value: () => current ?? null,
  };
}

function previewOf(value, label) {
  if (value === undefined) return [element("span", { class: "note", textContent: "No data yet. Choose a file." })];
  const parts = [element("span", { class: "note", textContent: sizeText(byteCount(value)) })];
  const media = mediaOf(value);
  if (media) {
    parts.unshift(element("img", { src: `data:${media};base64,${value.data}`, alt: `Picture in ${label}` }));
  }
  if (value.data) parts.push(downloadLink(value.data, media, label));
  return parts;
}

/** A link, because a record that is only shown disables its buttons. */
function downloadLink(data, media, label) {
  const link = element("a", { href: "", download: label, class: "button" }, icon("download"), "Download");
  link.addEventListener("click", () => {
    const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
    const address = URL.createObjectURL(new Blob([bytes], { type: media ?? "application/octet-stream" }));
    link.href = address;
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  });
  return link;
}

const mediaOf = ({ data, media }) =>
  media ?? Object.keys(heads).find((each) => heads[each].test(data));

async function base64(file) {
  const reader = new FileReader();
  const read = new Promise((resolve, reject) => {
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(reader.error);
  });
  reader.readAsDataURL(file);
  return (await read).replace(/^[^,]*,/, "");
}
