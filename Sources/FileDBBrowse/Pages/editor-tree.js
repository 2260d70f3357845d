// An editor for lists and nested fields, shown as a tree. Each value has a type and an editor, and can be moved or
// removed.

import { button, element } from "./dom.js";
import { editorFor } from "./editors.js";
import { emptyValue, typeOf, types } from "./values.js";

/** `type` is `array` or `dictionary`. */
export function treeEditor(value, type, { label }) {
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
