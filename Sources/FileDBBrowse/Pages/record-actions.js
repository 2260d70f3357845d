// The actions on a table. They apply to the selected records or, if none is selected, to the one with the focus. They
// run one after another, so that a key that is held down moves a record step by step.

import { Clipboard } from "./clipboard.js";
import { askAboutConflict } from "./conflict.js";
import { counted, element } from "./dom.js";
import { labelled } from "./dialog.js";
import { openRecord } from "./record-sheet.js";
import { sortWords } from "./sort-keys.js";
import { askAboutPaste, askForPlace, showKeys } from "./table-dialogs.js";
import { field } from "./values.js";

const verbs = ["add", "duplicate", "remove", "moveTo", "open", "selectAll", "toggleSelection", "clearSelection"];
const isSorted = "Only the view is sorted. To move records, keep this order or end the sorting.";

export class RecordActions {
  #view;
  #table;
  #clipboard;
  #last = Promise.resolve();

  /** `view` is the TableView. */
  constructor(view) {
    this.#view = view;
    this.#table = view.table;
    this.#clipboard = new Clipboard(view.table, view.notices);
    for (const name of verbs) this[name] = this[name].bind(this);
  }

  get api() {
    return this.#view.api;
  }

  get isReadOnly() {
    return this.#view.isReadOnly;
  }

  help() {
    showKeys();
  }

  fail(error) {
    this.#view.notices.fail(error);
  }

  whole(id) {
    return this.#table.record(id);
  }

  /** Runs a write after the earlier ones, and shows its result. */
  #write(run) {
    if (this.isReadOnly) {
      this.#view.notices.say("This table is read-only here.");
      return Promise.resolve();
    }
    this.#last = this.#last.then(run).catch((error) => this.fail(error));
    return this.#last;
  }

  get #ids() {
    const { selection, grid } = this.#view;
    if (selection.size > 0) return selection.ids;
    return grid.focusedRecord ? [grid.focusedRecord.id] : [];
  }

  // Records

  add() {
    return this.#write(async () => {
      const where = element("select", { class: "input" },
        ...[["start", "At the top"], ["end", "At the bottom"], ["after", "Below the current record"]].map(
          ([value, textContent]) => element("option", { value, textContent })));
      const current = this.#view.grid.focusedRecord;
      where.value = current ? "after" : "end";
      where.lastChild.disabled = !current;
      const ids = await openRecord({ fields: [] }, {
        title: "New record", action: "Add", api: this.api, columns: this.#view.columns,
        extra: [labelled("Where", where)],
      }, (changes) => {
        const fields = changes.filter(([, value]) => value !== null);
        return this.#table.add([{ fields }], where.value === "after" ? { after: current.id } : { [where.value]: true });
      });
      if (ids) await this.#view.showRecords(ids, "Added");
    });
  }

  duplicate() {
    return this.#write(async () => {
      const ids = this.#ids;
      if (ids.length === 0) return;
      const copies = await this.#table.duplicate(ids);
      await this.#view.showRecords(copies, `Duplicated ${counted(ids.length, "record")}; the copy is`);
    });
  }

  remove() {
    return this.#write(async () => {
      const ids = this.#ids;
      if (ids.length === 0) return;
      await this.#table.remove(ids);
      this.#view.selection.clear();
      await this.#view.refresh();
      this.#view.notices.say(`Deleted ${counted(ids.length, "record")}.`, { label: "Undo", run: this.#view.undo });
    });
  }

  async open(first) {
    const id = this.#view.grid.focusedRecord?.id;
    if (id === undefined) return;
    try {
      const record = await this.#table.record(id);
      await openRecord(record, {
        title: `Record ${id}`, action: "Save", api: this.api, columns: this.#view.columns, first,
        isReadOnly: this.isReadOnly,
      }, (changes) => this.#saveChanges(record, changes));
      this.#view.focusGrid();
    } catch (error) {
      this.fail(error);
    }
  }

  openField(id, name) {
    return this.open(name);
  }

  save(record, name, value) {
    return this.#saveChanges(record, [[name, value]]);
  }

  /** Writes fields. If somebody else changed them since `record` was read, the person chooses. */
  async #saveChanges(record, changes) {
    if (changes.length === 0) return;
    const expected = changes.map(([name]) => [name, field(record, name) ?? null]);
    try {
      this.#view.list.replace((await this.#table.set(record.id, changes, expected)).record);
    } catch (error) {
      if (error.code !== "changed") throw error;
      await this.#settle(record, changes, expected, error.current);
    }
    await this.#view.refresh();
  }

  async #settle(record, changes, expected, current) {
    const choice = await askAboutConflict({ id: record.id, changes, expected, current });
    if (choice === undefined) throw new Error("Not saved: somebody else changed this record.");
    if (choice === "mine") await this.#saveChanges(current, changes);
    if (choice === "add") {
      const names = new Set(changes.map(([name]) => name));
      const fields = [...record.fields.filter(([name]) => !names.has(name)), ...changes];
      await this.#table.add([{ fields: fields.filter(([, value]) => value !== null) }], { end: true });
    }
  }

  // Order

  /** Why records cannot be moved now; null if they can. */
  get #fixedOrder() {
    return this.#view.query.sort ? isSorted : null;
  }

  /** The records that are dragged together with a row. */
  draggedIds(row) {
    const record = this.#view.list.record(row);
    if (!record || this.isReadOnly) return [];
    if (this.#fixedOrder) {
      this.#view.notices.say(this.#fixedOrder);
      return [];
    }
    return this.#view.selection.has(record.id) ? this.#view.selection.ids : [record.id];
  }

  /** Moves records above the row `gap`. */
  drop(ids, gap) {
    return this.#write(async () => {
      const row = this.#view.list.indexOf(ids[0]);
      const isWhereItWas = ids.length === 1 && (row === gap || row === gap - 1);
      if (isWhereItWas) return;
      const below = await this.#neighbour(gap, 1, ids);
      const above = below ? undefined : await this.#neighbour(gap - 1, -1, ids);
      if (below || above) await this.#move(ids, below ? { before: below.id } : { after: above.id });
    });
  }

  /** The first record from a row on, in steps of 1 or -1, that is not being moved. */
  async #neighbour(from, step, ids) {
    const { list } = this.#view;
    const moving = new Set(ids);
    for (let row = from; row >= 0 && row < list.total; row += step) {
      const record = list.record(row) ?? (await list.records(row, row))[0];
      if (!moving.has(record.id)) return record;
    }
    return undefined;
  }

  /** Moves records up (-1) or down (1) by one row. */
  moveBy(step) {
    return this.#write(async () => {
      const ids = this.#ids;
      const { list, grid } = this.#view;
      const rows = ids.map((id) => list.indexOf(id) ?? grid.focused.row);
      const neighbour = await this.#neighbour(step < 0 ? Math.min(...rows) - 1 : Math.max(...rows) + 1, step, ids);
      if (neighbour) await this.#move(ids, { [step < 0 ? "before" : "after"]: neighbour.id });
    });
  }

  moveTo() {
    return this.#write(async () => {
      const ids = this.#ids;
      if (ids.length === 0) return;
      const place = this.#fixedOrder ? undefined : await askForPlace(ids.length, this.#view.list.total);
      if (place || this.#fixedOrder) await this.#move(ids, place);
      this.#view.focusGrid();
    });
  }

  async #move(ids, to) {
    if (this.#fixedOrder) throw new Error(this.#fixedOrder);
    if (ids.includes(to.before ?? to.after)) throw new Error("A record cannot be moved next to itself.");
    await this.#table.move(ids, to);
    await this.#view.showRecords(ids);
  }

  sortByColumn(name, mode) {
    this.#view.sortBy(name, mode);
  }

  /** Stores the order in which the records are shown. */
  keepOrder() {
    return this.#write(async () => {
      const { sortKeys, query } = this.#view;
      await this.#table.sort(query.sort);
      this.#view.endSort();
      const message = `The table is now in the order of ${sortWords(sortKeys)}.`;
      this.#view.notices.say(message, { label: "Undo", run: this.#view.undo });
    });
  }

  // Selection

  toggleSelection() {
    const { selection, grid } = this.#view;
    if (grid.focusedRecord) selection.toggle(grid.focusedRecord.id, grid.focused.row);
  }

  extendSelection(row, from) {
    this.#view.selection.extend(this.#view.list, row, from).catch((error) => this.fail(error));
  }

  selectAll() {
    this.#view.selection.all(this.#view.list).catch((error) => this.fail(error));
  }

  clearSelection() {
    this.#view.selection.clear();
  }

  // Clipboard

  copy(which, format) {
    return this.#clipboard.copy(which === "shown" ? this.#view.query : this.#asked, format);
  }

  /** Copies the field with the focus, or the selected records as CSV. */
  copyHere() {
    const { selection, grid } = this.#view;
    if (selection.size > 0) return this.#clipboard.copy(this.#asked, "csv");
    return this.#clipboard.copyField(grid.focusedRecord?.id, grid.columns[grid.focused.column - 1]?.name);
  }

  /** Reads the records that the actions apply to. */
  get #asked() {
    return { ids: this.#ids.join(",") };
  }

  paste(text) {
    return this.#write(async () => {
      const current = this.#view.grid.focusedRecord;
      const at = current && !this.#view.query.sort ? { after: current.id } : { end: true };
      const ids = await askAboutPaste(text, this.#view.columns, Math.max(0, this.#view.grid.focused.column - 1),
        (lines, columns) => this.#table.paste(lines, columns, at));
      if (ids) await this.#view.showRecords(ids, `Pasted ${counted(ids.length, "record")}, beginning with`);
    });
  }
}
