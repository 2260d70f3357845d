// Editors for values. Each is an object with `node`, `focus()` and `value()`. `value()` throws an Error that says what
// is wrong with the input, or returns null if there is no value. Some also have `type(text)`, which replaces the
// content.

import { button, element, icon, uniqueId } from "./dom.js";
import {
  byteCount, columnType, emptyValue, field, lineOf, localText, offsetText, parsed, sameValue, sizeText, storedDate,
  textOfCell, typeOf, types, zoneName,
} from "./values.js";

/**
 * The editor for a value of a type. `context`: `label`, `column` (if the value is a whole field), `api` (for
 * references).
 */
export function editorFor(value, type, context) {
  const column = context.column ?? {};
  if (column.values) return choiceEditor(value, column.values, context);
  if (column.references) return referenceEditor(value, type, context);
  switch (type) {
    case "bool": return choiceEditor(value, [true, false], context);
    case "integer":
    case "float": return numberEditor(value, type, context);
    case "date": return dateEditor(value, context);
    case "data": return dataEditor(value, context);
    case "array":
    case "dictionary": return treeEditor(value, type, context);
    default: return textEditor(value, context);
  }
}

/** The type in which a field is edited: that of its value, or else that of its column. */
export const editedType = (value, column) => typeOf(value) ?? columnType(column?.type) ?? "string";

function textEditor(value, { label }) {
  // If the style sheet cannot fit the field to its text, it gets about as many rows.
  const rows = Math.min(8, 1 + Math.floor((value ?? "").length / 60));
  const node = element("textarea", {
    class: "input text-input", rows, value: value ?? "", "aria-label": label, onpaste: pasteCell,
  });
  return {
    node,
    focus: () => node.focus(),
    type: (text) => (node.value = text),
    value: () => (node.value === "" && value === undefined ? null : node.value),
  };
}

/** A text that was copied from a cell is pasted without the quotes around it. */
function pasteCell(event) {
  const text = textOfCell(event.clipboardData.getData("text/plain"));
  if (text === undefined) return;
  event.preventDefault();
  // The browser can undo this, unlike `setRangeText`.
  document.execCommand("insertText", false, text);
}

function numberEditor(value, type, { label }) {
  const node = element("input", {
    class: "input is-number", value: value === undefined ? "" : lineOf(value), "aria-label": label,
    inputMode: type === "integer" ? "numeric" : "decimal", autocomplete: "off",
  });
  return {
    node,
    focus: () => node.select(),
    type: (text) => (node.value = text),
    value: () => (node.value.trim() === "" ? null : parsed(node.value, type)),
  };
}

function dateEditor(value, { label }) {
  const id = uniqueId("date");
  const input = element("input", {
    class: "input", value: value ? localText(value.date) : "", placeholder: "2026-11-30 18:45:00",
    "aria-label": label, "aria-describedby": id, autocomplete: "off",
  });
  const note = element("span", { class: "note", id });
  const read = () => (value && input.value === localText(value.date) ? value.date : storedDate(input.value));
  const explain = () => {
    try {
      const stored = read();
      note.textContent = `${zoneName} (${offsetText(stored)}). Stored as ${stored}`;
    } catch (error) {
      note.textContent = input.value === "" ? `In the time zone ${zoneName}.` : error.message;
    }
  };
  input.addEventListener("input", explain);
  explain();
  const calendar = element("input", {
    class: "calendar", type: "datetime-local", step: 1, tabIndex: -1, "aria-hidden": "true",
    onchange: () => {
      input.value = calendar.value.replace("T", " ");
      explain();
      input.focus();
    },
  });
  const choose = button("Choose a date", {
    shape: "calendar", kind: "is-quiet is-icon",
    onclick: () => {
      calendar.value = value ? localText(value.date).replace(" ", "T") : "";
      calendar.showPicker();
    },
  });
  return {
    node: element("div", { class: "date-editor" },
      element("div", { class: "date-line" }, input, calendar, choose), note),
    focus: () => input.select(),
    type: (text) => {
      input.value = text;
      explain();
    },
    value: () => (input.value.trim() === "" ? null : { date: read() }),
  };
}

/** A choice of several values. Unless the field is required, it may be empty. */
function choiceEditor(value, values, { label, column }) {
  const known = value === undefined || values.some((each) => sameValue(each, value)) ? values : [value, ...values];
  const options = known.map((each, index) => element("option", { value: String(index), textContent: lineOf(each) }));
  if (!column?.required || value === undefined) options.unshift(element("option", { value: "", textContent: "–" }));
  const node = element("select", { class: "input", "aria-label": label }, ...options);
  const current = known.findIndex((each) => sameValue(each, value));
  node.value = current < 0 ? "" : String(current);
  return {
    node,
    focus: () => node.focus(),
    value: () => (node.value === "" ? null : known[Number(node.value)]),
  };
}

/** A reference to a record of another table, by the value of the field. It suggests values that fit. */
function referenceEditor(value, type, { label, column, api }) {
  const { table, field: name } = column.references;
  const list = element("datalist", { id: uniqueId("records") });
  const input = element("input", {
    class: "input", value: value === undefined ? "" : lineOf(value), list: list.id, "aria-label": label,
    autocomplete: "off",
  });
  const suggest = async (search) => {
    const { records } = await api.table(table).records({ search }, 0, 20).catch(() => ({ records: [] }));
    list.replaceChildren(...records.map((record) => suggestion(record, name)));
  };
  input.addEventListener("input", () => suggest(input.value));
  suggest("");
  const note = element("span", { class: "note", textContent: `From the table ${table}, by ${name}.` });
  return {
    node: element("div", {}, input, list, note),
    focus: () => input.select(),
    type: (text) => {
      input.value = text;
      suggest(text);
    },
    value: () => (input.value.trim() === "" ? null : parsed(input.value, name === "id" ? "integer" : type)),
  };
}

function suggestion(record, name) {
  const key = name === "id" ? record.id : lineOf(field(record, name));
  const text = record.fields.map(([, value]) => value).find((value) => typeOf(value) === "string");
  return element("option", { value: key, label: text === undefined ? key : lineOf(text) });
}

// An editor for lists and nested fields, shown as a tree. Each value has a type and an editor, and can be moved or
// removed.

/** `type` is `array` or `dictionary`. */
function treeEditor(value, type, { label }) {
  const isArray = type === "array";
  const items = element("ul", { class: "tree", "aria-label": label });
  const entries = new Map();
  const add = (key, each) => {
    const item = new Item(key, each, { isArray, label, onMove: move, onRemove: remove });
    entries.set(item.node, item);
    items.append(item.node);
    return item;
  };
  const move = (item, step) => {
    const other = step < 0 ? item.node.previousElementSibling : item.node.nextElementSibling;
    if (other) step < 0 ? other.before(item.node) : other.after(item.node);
  };
  const remove = (item) => {
    const next = item.node.nextElementSibling ?? item.node.previousElementSibling;
    item.node.remove();
    (entries.get(next)?.editor ?? { focus: () => adder.focus() }).focus();
  };
  const adder = button(isArray ? "Add an item" : "Add a field", {
    shape: "add", kind: "is-small", onclick: () => add(isArray ? undefined : "", "").focus(),
  });
  for (const [key, each] of contents(value, isArray)) add(key, each);
  return {
    node: element("div", { class: "tree-editor" }, items, adder),
    focus: () => (entries.get(items.firstElementChild) ?? adder).focus(),
    value: () => collected([...items.children].map((node) => entries.get(node)), isArray),
  };
}

function contents(value, isArray) {
  if (value === undefined) return [];
  return isArray ? value.array.map((each) => [undefined, each]) : value.dictionary;
}

function collected(items, isArray) {
  if (isArray) return { array: items.map((item) => item.value()) };
  const fields = items.map((item) => [item.key.value, item.value()]);
  const names = new Set();
  for (const [name] of fields) {
    if (name === "") throw new Error("Every field needs a name.");
    if (names.has(name)) throw new Error(`Two fields have the name ${name}.`);
    names.add(name);
  }
  return { dictionary: fields };
}

class Item {
  node = element("li", { class: "tree-item" });
  #label;

  constructor(key, value, { isArray, label, onMove, onRemove }) {
    this.#label = label;
    this.key = isArray ? null : keyInput(key, label);
    this.type = typeChoice(typeOf(value), `Type in ${label}`, (type) => this.#edit(emptyValue(type), type));
    this.slot = element("div", { class: "tree-value" });
    const tools = element(
      "div",
      { class: "tree-tools" },
      button("Move up", { shape: "up", kind: "is-quiet is-icon", onclick: () => onMove(this, -1) }),
      button("Move down", { shape: "down", kind: "is-quiet is-icon", onclick: () => onMove(this, 1) }),
      button("Remove", { shape: "close", kind: "is-quiet is-icon", onclick: () => onRemove(this) }));
    this.node.append(...[this.key, this.type, this.slot, tools].filter(Boolean));
    this.#edit(value, typeOf(value));
  }

  #edit(value, type) {
    this.editor = editorFor(value, type, { label: `Value in ${this.#label}`, column: { required: true } });
    this.node.classList.toggle("is-branch", type === "array" || type === "dictionary");
    this.slot.replaceChildren(this.editor.node);
  }

  focus() {
    (this.key ?? this.editor).focus();
  }

  value() {
    const value = this.editor.value();
    if (value === null) throw new Error("A value is missing.");
    return value;
  }
}

const keyInput = (key, label) =>
  element("input", { class: "input key-input", value: key, "aria-label": `Name in ${label}`, placeholder: "Name" });

/** A list of the types. */
export function typeChoice(type, label, onChange) {
  const options = types.map((each) => element("option", { value: each, textContent: each }));
  const node = element("select", { class: "input type-input", "aria-label": label }, ...options);
  node.value = type;
  node.addEventListener("change", () => onChange(node.value));
  return node;
}

// An editor for bytes. It shows a preview if they are a picture, and can save them to a file and load them from one.

// What base64 makes of the first bytes.
const heads = {
  "image/png": /^iVBORw0KGgo/, "image/jpeg": /^\/9j\//, "image/gif": /^R0lGOD[dl]h/, "image/webp": /^UklGR.{6}XRUJQ/,
};

function dataEditor(value, { label }) {
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
