// Editing in place, with an editor over a cell.

import { button, element, openDialog, uniqueId } from "./dom.js";
import { editedType, editorFor, typeChoice } from "./editors.js";
import { emptyValue, field, isCut, lineOf, sameValue } from "./values.js";

const opensSheet = new Set(["data", "array", "dictionary"]);

export class CellEditor {
  #grid;
  #actions;
  /** The open editors. More than one, if values were refused: each stays at its cell until it is right or given up. */
  #open = new Set();
  /** Whether the complete text of a field is still being read. It would replace what is typed meanwhile. */
  #isOpening = false;

  /**
   * `actions`: `whole(id)` reads a record, `save(record, name, value)` writes a field, `openField(id, name)` opens the
   * record at a field, `fail(error)`, `showRefused(editors)` tells of the values that were refused.
   */
  constructor(grid, actions) {
    this.#grid = grid;
    this.#actions = actions;
  }

  /** The editors whose values were refused. */
  get refused() {
    return [...this.#open].filter(({ node }) => node.classList.contains("is-wrong"));
  }

  /** Edits the field with the focus. `typed` replaces its content. */
  async edit(typed) {
    const { row, column: index } = this.#grid.focused;
    const column = this.#grid.columns[index - 1];
    let record = this.#grid.list.record(row);
    if (this.#actions.isReadOnly || !record || !column || this.#isOpening) return;
    const open = this.#at(record.id, column.name);
    if (open) return open.editor.focus();
    if (record.fields.some(([name, value]) => name === column.name && isCut(value))) {
      record = await this.#whole(record.id);
      const { focused } = this.#grid;
      if (!record || focused.row !== row || focused.column !== index) return;
    }
    const value = field(record, column.name);
    const type = editedType(value, column);
    if (opensSheet.has(type)) this.#actions.openField(record.id, column.name);
    else if (type === "bool" && !column.values && typed === undefined) this.#write(record, column, !value);
    else this.#show(record, column, value, type, typed);
  }

  #at(id, name) {
    return [...this.#open].find(({ record, column }) => record.id === id && column.name === name);
  }

  /** Empties the field with the focus. */
  empty() {
    const { row, column: index } = this.#grid.focused;
    const column = this.#grid.columns[index - 1];
    const record = this.#grid.list.record(row);
    if (!record || !column || field(record, column.name) === undefined) return undefined;
    return this.#write(record, column, null);
  }

  /** Gives up a refused value: the one at the cell with the focus, or else the last one. */
  giveUp() {
    const { row, column } = this.#grid.focused;
    const here = this.#at(this.#grid.list.record(row)?.id, this.#grid.columns[column - 1]?.name);
    this.close(here ?? this.refused.at(-1));
  }

  async #whole(id) {
    this.#isOpening = true;
    try {
      return await this.#actions.whole(id);
    } catch (error) {
      this.#actions.fail(error);
      return undefined;
    } finally {
      this.#isOpening = false;
    }
  }

  #show(record, column, value, type, typed) {
    const label = `${column.title ?? column.name}, record ${record.id}`;
    const editor = editorFor(value, type, { label, column, api: this.#actions.api });
    const problem = element("div", { class: "cell-problem", role: "alert", id: uniqueId("problem") });
    const node = element("div", { class: "cell-editor", title: type ?? "" }, editor.node, problem);
    const open = { record, column, value, editor, problem, node, label };
    node.addEventListener("keydown", (event) => this.#key(event, open));
    node.addEventListener("focusout", (event) => {
      if (!node.contains(event.relatedTarget)) this.#commit(open, () => {});
    });
    open.layer = this.#grid.addLayer(node, () => this.#grid.placeOfField(record.id, column.name));
    this.#open.add(open);
    editor.focus();
    if (typed !== undefined) editor.type?.(typed);
  }

  #key(event, open) {
    event.stopPropagation();
    const { row, column } = this.#grid.focused;
    if (event.key === "Escape") {
      this.close(open);
      this.#grid.focusCell(row, column);
    } else if (event.key === "Enter" && !event.altKey && !event.shiftKey) {
      this.#commit(open, () => this.#grid.focusCell(row, column));
    } else if (event.key === "Tab") {
      this.#commit(open, () => this.#grid.focusCell(row, column + (event.shiftKey ? -1 : 1)));
    } else if (event.key === "Enter" && event.altKey) {
      const { selectionStart, selectionEnd } = event.target;
      event.target.setRangeText?.("\n", selectionStart, selectionEnd, "end");
    } else return;
    event.preventDefault();
  }

  /** Writes what was typed. If it is refused, the editor stays and shows why, and everything else goes on. */
  async #commit(open, then) {
    if (!this.#open.has(open) || open.isBusy) return;
    open.isBusy = true;
    try {
      const value = open.editor.value();
      if (!sameValue(value, open.value)) await this.#actions.save(open.record, open.column.name, value);
      this.close(open);
      then();
    } catch (error) {
      open.isBusy = false;
      open.problem.textContent = error.message;
      open.node.classList.add("is-wrong");
      const input = open.node.querySelector("input, textarea, select");
      input.setAttribute("aria-invalid", "true");
      input.setAttribute("aria-errormessage", open.problem.id);
      this.#actions.showRefused(this.refused);
    }
  }

  close(open) {
    if (!open || !this.#open.delete(open)) return;
    this.#grid.removeLayer(open.layer);
    this.#actions.showRefused(this.refused);
  }

  /** A Boolean needs no editor. It is toggled. */
  async #write(record, column, value) {
    try {
      await this.#actions.save(record, column.name, value);
    } catch (error) {
      this.#sayAtCell(error.message);
    }
  }

  #sayAtCell(message) {
    const { row, column } = this.#grid.focused;
    const node = element("div", { class: "cell-editor is-wrong" },
      element("div", { class: "cell-problem", role: "alert", textContent: message }));
    const layer = this.#grid.addLayer(node, () => ({ row, column }));
    this.#grid.grid.addEventListener("focusout", () => this.#grid.removeLayer(layer), { once: true });
  }
}

// A whole record, field by field: the columns of the table, and the record's other fields.

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
    const label = element("span", { class: "field-name", dir: "auto", textContent: title ?? name });
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

// Somebody else changed what a person is editing. This shows both versions and lets the person choose.

/** Returns "mine", "theirs", or "add" for a record that was deleted; undefined to continue editing. */
export function askAboutConflict({ id, changes, expected, current }) {
  return current ? askAboutChange({ id, changes, expected, current }) : askAboutDeletion(id);
}

function askAboutChange({ id, changes, expected, current }) {
  const rows = changes.map(([name, mine]) => {
    const before = expected.find(([each]) => each === name)?.[1] ?? null;
    const theirs = field(current, name) ?? null;
    return element(
      "tr", { class: sameValue(before, theirs) ? "" : "is-changed" },
      element("th", { scope: "row", textContent: name }), cell(before), cell(theirs), cell(mine));
  });
  const titles = ["Field", "Before", "Theirs", "Yours"];
  const heads = titles.map((textContent) => element("th", { scope: "col", textContent }));
  return openDialog({
    title: "Changed by somebody else",
    cancel: "Keep editing",
    content: () => [
      element("p", { textContent: `Somebody else changed record ${id} while you edited it. Which one should stay?` }),
      element("table", { class: "comparison" },
        element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows)),
    ],
    actions: [
      { label: "Keep mine", run: () => "mine" },
      { label: "Keep theirs", run: () => "theirs" },
    ],
  });
}

const cell = (value) => element("td", { textContent: value === null ? "no such field" : lineOf(value) });

function askAboutDeletion(id) {
  return openDialog({
    title: "Deleted by somebody else",
    cancel: "Keep editing",
    content: () => [
      element("p", { textContent: `Somebody else deleted record ${id} while you edited it.` }),
    ],
    actions: [
      { label: "Add it again with my change", run: () => "add" },
      { label: "Leave it deleted", run: () => "theirs" },
    ],
  });
}
