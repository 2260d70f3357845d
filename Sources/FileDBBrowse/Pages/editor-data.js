// An editor for bytes. It shows a preview if they are a picture, and can save them to a file and load them from one.

import { element, icon } from "./dom.js";
import { byteCount, sizeText } from "./values.js";

const heads = { "image/png": "iVBORw0KGgo", "image/jpeg": "/9j/", "image/gif": "R0lGOD", "image/webp": "UklGR" };

/** `context.address` is the address of the stored bytes. */
export function dataEditor(value, { label, address }) {
  let current = value;
  const preview = element("div", { class: "data-preview" });
  const chooser = element("input", { type: "file", class: "input", "aria-label": `A file for ${label}` });
  const show = () => preview.replaceChildren(...previewOf(current, label, current === value ? address : undefined));
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

function previewOf(value, label, address) {
  if (value === undefined) return [element("span", { class: "note", textContent: "No data yet. Choose a file." })];
  const parts = [element("span", { class: "note", textContent: sizeText(byteCount(value)) })];
  const media = mediaOf(value);
  if (media) {
    parts.unshift(element("img", { src: `data:${media};base64,${value.data}`, alt: `Picture in ${label}` }));
  }
  if (address) {
    const link = element("a", { href: address, download: label, class: "button" }, icon("download"), "Download");
    parts.push(link);
  }
  return parts;
}

const mediaOf = ({ data, media }) =>
  media ?? Object.keys(heads).find((each) => data?.startsWith(heads[each]));

async function base64(file) {
  const reader = new FileReader();
  const read = new Promise((resolve, reject) => {
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(reader.error);
  });
  reader.readAsDataURL(file);
  return (await read).replace(/^[^,]*,/, "");
}
