// Editing in place, with an editor over a cell.

import { element, uniqueId } from "./dom.js";
import { editedType, editorFor } from "./editors.js";
import { field, isCut, sameValue } from "./values.js";

const opensSheet = new Set(["data", "array", "dictionary"]);

export class CellEditor {
  #grid;
  #actions;
  #open = null;
  /** Whether the complete text of a field is still being read. It would replace what is typed meanwhile. */
  #isOpening = false;

  /**
   * `actions`: `whole(id)` reads a record, `save(record, name, value)` writes a field, `openField(id, name)` opens the
   * record at a field, `fail(error)`.
   */
  constructor(grid, actions) {
    this.#grid = grid;
    this.#actions = actions;
  }

  /** Edits the field with the focus. `typed` replaces its content. */
  async edit(typed) {
    const { row, column: index } = this.#grid.focused;
    const column = this.#grid.columns[index - 1];
    let record = this.#grid.list.record(row);
    if (this.#actions.isReadOnly || !record || !column || this.#open || this.#isOpening) return;
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
    node.addEventListener("keydown", (event) => this.#key(event));
    node.addEventListener("focusout", (event) => {
      if (!node.contains(event.relatedTarget)) this.#commit(() => {});
    });
    const index = this.#grid.focused.column;
    const place = () => ({ row: this.#grid.list.indexOf(record.id) ?? this.#grid.focused.row, column: index });
    this.#open = { record, column, value, editor, problem, node, layer: this.#grid.addLayer(node, place) };
    editor.focus();
    if (typed !== undefined) editor.type?.(typed);
  }

  #key(event) {
    event.stopPropagation();
    const { row, column } = this.#grid.focused;
    if (event.key === "Escape") {
      this.#close();
      this.#grid.focusCell(row, column);
    } else if (event.key === "Enter" && !event.altKey && !event.shiftKey) {
      this.#commit(() => this.#grid.focusCell(row, column));
    } else if (event.key === "Tab") {
      this.#commit(() => this.#grid.focusCell(row, column + (event.shiftKey ? -1 : 1)));
    } else if (event.key === "Enter" && event.altKey) {
      const { selectionStart, selectionEnd } = event.target;
      event.target.setRangeText?.("\n", selectionStart, selectionEnd, "end");
    } else return;
    event.preventDefault();
  }

  /** Writes what was typed. If the server refuses it, the editor stays and shows why. */
  async #commit(then) {
    const open = this.#open;
    if (!open || open.isBusy) return;
    open.isBusy = true;
    try {
      const value = open.editor.value();
      if (!sameValue(value, open.value)) await this.#actions.save(open.record, open.column.name, value);
      this.#close();
      then();
    } catch (error) {
      open.isBusy = false;
      open.problem.textContent = error.message;
      open.node.classList.add("is-wrong");
      const input = open.node.querySelector("input, textarea, select");
      input.setAttribute("aria-invalid", "true");
      input.setAttribute("aria-errormessage", open.problem.id);
    }
  }

  #close() {
    const open = this.#open;
    this.#open = null;
    if (open) this.#grid.removeLayer(open.layer);
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
