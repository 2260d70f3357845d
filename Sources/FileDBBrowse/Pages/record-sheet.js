// A whole record, field by field: the columns of the table, and the record's other fields.

import { button, element } from "./dom.js";
import { openDialog } from "./dialog.js";
import { editedType, editorFor } from "./editors.js";
import { typeChoice } from "./editor-tree.js";
import { emptyValue, field, sameValue } from "./values.js";

/**
 * Opens a record. `save(changes)` writes `[[name, value or null]]`. `options`: `title`, `api`, `columns`, `isReadOnly`,
 * `first` (the field to begin with), `action` (the label of the button), `extra` (elements above the fields).
 */
export function openRecord(record, options, save) {
  const form = new RecordForm(record, options);
  return openDialog({
    title: options.title,
    kind: "is-sheet",
    cancel: options.isReadOnly ? "Close" : "Cancel",
    content: () => [...(options.extra ?? []), form.node, ...(options.isReadOnly ? [] : [form.adder])],
    actions: options.isReadOnly ? [] : [{ label: options.action, run: () => form.submit(save) }],
  });
}

class RecordForm {
  #options;
  #fields = [];

  constructor(record, options) {
    this.#options = options;
    this.node = element("fieldset", { class: "record-form", disabled: Boolean(options.isReadOnly) });
    const known = new Set(options.columns.map(({ name }) => name));
    const others = record.fields.filter(([name]) => !known.has(name)).map(([name]) => ({ name }));
    for (const column of [...options.columns, ...others]) this.#add(column, field(record, column.name));
    this.adder = button("Add a field", { shape: "add", kind: "is-small", onclick: () => this.#addNew() });
    const first = this.#fields.find(({ column }) => column.name === options.first) ?? this.#fields[0];
    if (first) first.control.dataset.first = "";
  }

  #add(column, value) {
    const part = new RecordField(column, value, this.#options);
    this.#fields.push(part);
    this.node.append(part.node);
    return part;
  }

  #addNew() {
    const part = this.#add({ name: "", isNew: true }, undefined);
    part.nameInput.focus();
  }

  async submit(save) {
    const changes = [];
    const names = new Set();
    for (const part of this.#fields) {
      part.say("");
      try {
        changes.push(...part.changes());
        if (names.has(part.name)) throw new Error(`There is already a field with the name ${part.name}.`);
        names.add(part.name);
      } catch (error) {
        part.say(error.message);
        throw new Error(`${part.name || "The new field"}: ${error.message}`, { cause: error });
      }
    }
    try {
      return await save(changes);
    } catch (error) {
      const part = this.#fields.find(({ name }) => name === error.field);
      if (!part) throw error;
      part.say(error.message);
      part.control?.focus();
      throw new Error(`${part.column.title ?? part.name}: ${error.message}`, { cause: error });
    }
  }
}

class RecordField {
  #column;
  #value;
  #options;
  #isRemoved;

  constructor(column, value, options) {
    this.#column = column;
    this.#value = value;
    this.#options = options;
    this.#isRemoved = false;
    this.problem = element("p", { class: "problem", role: "alert" });
    this.slot = element("div", { class: "field-slot" });
    this.nameInput = column.isNew ? newName() : null;
    this.node = element(
      "div",
      { class: "field", data: { field: column.name } },
      element("div", { class: "field-head" }, this.nameInput ?? this.#heading(), ...this.#tools()),
      this.slot, this.problem);
    this.#edit(value, editedType(value, column));
  }

  get column() {
    return this.#column;
  }

  get name() {
    return this.nameInput ? this.nameInput.value : this.#column.name;
  }

  get control() {
    return this.slot.querySelector("input, textarea, select, button");
  }

  #heading() {
    const { title, name, required } = this.#column;
    const label = element("span", { class: "field-name", textContent: title ?? name });
    if (required) label.append(element("span", { class: "note", textContent: " needed" }));
    return label;
  }

  #tools() {
    if (this.#options.isReadOnly) return [];
    const { type, values, references, required } = this.#column;
    const current = editedType(this.#value, this.#column);
    if ((type && type !== "json") || values || references) {
      const note = element("span", { class: "note", textContent: current ?? "" });
      return required ? [note] : [note, this.#remover()];
    }
    const label = `Type of ${this.#column.name || "the new field"}`;
    return [typeChoice(current, label, (chosen) => this.#edit(emptyValue(chosen), chosen)), this.#remover()];
  }

  #remover() {
    const label = `Remove ${this.#column.name || "the new field"}`;
    return button(label, { shape: "close", kind: "is-quiet is-icon", onclick: () => this.#remove() });
  }

  #edit(value, type) {
    const { name, title } = this.#column;
    this.#isRemoved = false;
    this.editor = editorFor(value, type, {
      label: title ?? (name || "Value"), column: this.#column, api: this.#options.api,
    });
    this.slot.replaceChildren(this.editor.node);
  }

  #remove() {
    this.#isRemoved = true;
    this.slot.replaceChildren(
      element("span", { class: "note", textContent: "No such field." }),
      button("Put it back", {
        kind: "is-small is-quiet", onclick: () => this.#edit(this.#value, editedType(this.#value, this.#column)),
      }));
  }

  say(message) {
    this.problem.textContent = message;
    this.control?.setAttribute("aria-invalid", message !== "");
  }

  /** The differences from the record as it was read. */
  changes() {
    const value = this.#isRemoved ? null : this.editor.value();
    const isEmptyText = this.#value === undefined && (value === "" || value === null);
    if (isEmptyText || sameValue(value, this.#value)) return [];
    if (this.name === "") throw new Error("It needs a name.");
    return [[this.name, value]];
  }
}

function newName() {
  const label = "Name of the field";
  return element("input", { class: "input key-input", placeholder: label, "aria-label": label });
}
