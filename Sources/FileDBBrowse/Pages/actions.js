// The actions on a table. They apply to the selected records or, if none is selected, to the one with the focus. They
// run one after another, so that a key that is held down moves a record step by step.

import { nameColumn } from "./columns.js";
import { askAboutOrder, askAboutPaste, askForPlace, showColumnMenu, showKeys } from "./dialogs.js";
import { counted, element, grouped, labelled } from "./dom.js";
import { askAboutConflict, openRecord } from "./editing.js";
import { cellText, copiedText, field, lineOf, sortWords, tableHTML, tableText, withLocalDates } from "./values.js";

const verbs = ["add", "duplicate", "remove", "moveTo", "open", "selectAll", "toggleSelection", "escape"];
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
    this.#clipboard = new Clipboard(view);
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

  /** Says what was done, with a button that undoes exactly this. */
  #say(text, { step }) {
    this.#view.notices.say(text, this.#view.undoAction(step));
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
      const added = await openRecord({ fields: [] }, {
        title: "New record", action: "Add", api: this.api, columns: this.#view.orderedColumns,
        extra: [labelled("Where", where)],
      }, (changes) => {
        const fields = changes.filter(([, value]) => value !== null);
        return this.#table.add([{ fields }], where.value === "after" ? { after: current.id } : { [where.value]: true });
      });
      if (added) await this.#view.showRecords(added.ids, "Added");
    });
  }

  duplicate() {
    return this.#write(async () => {
      const ids = this.#ids;
      if (ids.length === 0) return;
      const { ids: copies } = await this.#table.duplicate(ids);
      await this.#view.showRecords(copies, `Duplicated ${counted(ids.length, "record")}; the copy is`);
    });
  }

  remove() {
    return this.#write(async () => {
      const ids = this.#ids;
      if (ids.length === 0) return;
      const done = await this.#table.remove(ids);
      this.#view.selection.clear();
      await this.#view.refresh();
      this.#view.focusGrid();
      this.#say(`Deleted ${counted(ids.length, "record")}.`, done);
    });
  }

  /** Empties the field with the focus. */
  emptyCell() {
    return this.#write(() => this.#view.editor.empty());
  }

  async open(first) {
    const id = this.#view.grid.focusedRecord?.id;
    if (id === undefined) return;
    try {
      const record = await this.#table.record(id);
      await openRecord(record, {
        title: this.#titleOf(record), action: "Save", api: this.api, columns: this.#view.orderedColumns, first,
        isReadOnly: this.isReadOnly,
      }, (changes) => this.#saveChanges(record, changes));
      this.#view.focusGrid();
    } catch (error) {
      this.fail(error);
    }
  }

  #titleOf(record) {
    const name = nameColumn(this.#view.columns);
    const title = name ? lineOf(field(record, name.name)) : "";
    return title === "" ? `Record ${record.id}` : `${title.slice(0, 80)} (record ${record.id})`;
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
      const { record: saved } = await this.#table.set(record.id, changes, expected);
      // The file may have broken meanwhile.
      this.#view.list?.replace(saved);
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

  /** Stores the order in which the records are shown. Records that a filter hides get it, too. */
  keepOrder() {
    return this.#write(async () => {
      const { sortKeys, query, list, count } = this.#view;
      const hidden = count - list.total;
      if (hidden > 0 && !(await askAboutOrder(count, hidden, sortWords(sortKeys)))) return;
      const done = await this.#table.sort(query.sort);
      this.#view.endSort();
      const all = hidden > 0 ? ` All ${counted(count, "record")} were sorted.` : "";
      this.#say(`The table is now in the order of ${sortWords(sortKeys)}.${all}`, done);
    });
  }

  // Selection

  toggleSelection() {
    const { selection, grid } = this.#view;
    if (grid.focusedRecord) selection.toggle(grid.focusedRecord.id, grid.focused.row);
  }

  extendSelection(row, from) {
    this.#select((list, task) => this.#view.selection.extend(list, task, row, from));
  }

  selectAll() {
    this.#select((list, task) => this.#view.selection.all(list, task));
  }

  /** `run(list, task)` selects records. */
  #select(run) {
    const { list, selection, notices } = this.#view;
    this.api.task("Selecting", async (task) => {
      await run(list, task);
      if (!task.stop.signal.aborted) return;
      notices.say(`Stopped selecting. ${counted(selection.size, "record")} of ${grouped(list.total)} selected.`);
    }).catch((error) => this.fail(error));
  }

  /** Gives up what was selected, or else a value that was refused. */
  escape() {
    if (this.#view.selection.size > 0) this.#view.selection.clear();
    else this.#view.editor.giveUp();
  }

  showRefused(editors) {
    this.#view.status.showRefused(editors);
  }

  /** Goes to a value that was refused. */
  async showEditor({ record, column, editor }) {
    const { list, grid, arrangement, notices } = this.#view;
    if (!list) return notices.say("The table cannot be read now. What you typed is kept until it can be read.");
    const row = list.indexOf(record.id) ?? (await list.place(record.id));
    if (row === null) return notices.say("The filter or the search hides the record, or it was deleted.");
    if (arrangement.isHidden(column.name)) this.#view.arrange(() => arrangement.hide(column.name, false));
    const index = grid.columns.findIndex(({ name }) => name === column.name);
    if (index < 0) return notices.say(`The column ${column.name} was deleted.`);
    grid.focusCell(row, index + 1);
    await list.load(row);
    grid.render();
    editor.focus();
  }

  giveUp(editor) {
    this.#view.editor.close(editor);
    this.#view.focusGrid();
  }

  // Columns

  /** The menu of a column. It begins with the ids. */
  columnMenu(index) {
    const column = this.#view.grid.columns[index - 1];
    if (column) showColumnMenu(column, this.#view.grid.cell(-1, index), this.#view);
  }

  /** Moves a column by one place, and keeps the focus at it. */
  moveColumn(index, step) {
    const { grid } = this.#view;
    const column = grid.columns[index - 1];
    const neighbour = grid.columns[index - 1 + step];
    if (!column || !neighbour) return;
    const before = step < 0 ? neighbour.name : grid.columns[index + 1]?.name;
    this.#view.arrange((arrangement, columns) => arrangement.move(columns, column.name, before));
    grid.focusCell(-1, index + step);
  }

  /** Changes columns in the store. `run` returns the server's answer. Rejects if the server refuses, for the dialog. */
  editColumns(text, run) {
    const done = this.#last.then(async () => {
      const answer = await run(this.#table);
      await this.#view.reread();
      this.#say(text, answer);
    });
    this.#last = done.catch(() => {});
    return done;
  }

  // Clipboard

  /** `which` is "shown" or "selected"; `format` is json, csv or table. */
  copy(which, format) {
    const asked = which === "shown" ? this.#view.query : this.#asked;
    const count = which === "shown" ? this.#view.list.total : this.#asked.ids.length;
    return format === "table" ? this.#clipboard.copyRows(asked, count) : this.#clipboard.copy(asked, format);
  }

  /** Copies the field with the focus, or the selected records as a spreadsheet does. */
  copyHere() {
    const { selection, grid } = this.#view;
    if (selection.size > 0) return this.#clipboard.copyRows(this.#asked, selection.size);
    return this.#clipboard.copyField(grid.focusedRecord?.id, grid.columns[grid.focused.column - 1]?.name);
  }

  /** Reads the records that the actions apply to. */
  get #asked() {
    return { ids: this.#ids };
  }

  /** Pastes rows of a spreadsheet: `html` if it has a table, or else `text`. */
  paste(text, html) {
    return this.#write(async () => {
      const { grid, columns, query } = this.#view;
      const { rows, width } = await this.api.parse(tableText(html) ?? text);
      if (rows.length === 0) return;
      const current = grid.focusedRecord;
      const at = current && !query.sort ? { after: current.id } : { end: true };
      const pasted = await askAboutPaste(rows, width, grid.columns, Math.max(0, grid.focused.column - 1),
        (lines, names) => this.#table.paste(withLocalDates(lines, names, columns), names, at));
      if (!pasted) return;
      const count = counted(pasted.ids.length, "record");
      await this.#view.showRecords(pasted.ids, `Pasted ${count}, beginning with`);
    });
  }
}

// Copying to the clipboard.

const mostInTable = 10_000;

class Clipboard {
  #api;
  #table;
  #notices;

  constructor({ api, table, notices }) {
    this.#api = api;
    this.#table = table;
    this.#notices = notices;
  }

  /** Copies records as `filedb export` writes them. `asked` has their ids or is a query. `format` is json or csv. */
  copy(asked, format) {
    if (asked.ids?.length === 0) return this.#notices.say("There is no record to copy.");
    return this.#put({ "text/plain": this.#table.exportText(format, asked) }, `Copied as ${format.toUpperCase()}.`);
  }

  /**
   * Copies records as a spreadsheet does: as text with tabs, and as a table for programs that want that. A table of
   * many records would hold up the page.
   */
  copyRows(asked, count) {
    const text = this.#table.exportText("tsv", asked);
    if (count > mostInTable) {
      return this.#put({ "text/plain": text }, `Copied ${counted(count, "record")} as text with tabs. Only up to `
        + `${grouped(mostInTable)} are also copied as a table.`);
    }
    const html = text.then((each) => this.#api.parse(each)).then(tableHTML);
    return this.#put({ "text/plain": text, "text/html": html }, `Copied ${counted(count, "record")}.`);
  }

  /** Copies a field of a record, or its id if no field is named. */
  copyField(id, name) {
    if (id === undefined) return;
    const text = name === undefined ? Promise.resolve(id) : this.#fieldText(id, name);
    return this.#put({ "text/plain": text }, "Copied the field.");
  }

  async #fieldText(id, name) {
    return cellText(copiedText(field(await this.#table.record(id), name)));
  }

  /**
   * A promise in the clipboard's item keeps the permission from the person's key press while the text is being read.
   */
  async #put(texts, message) {
    try {
      const blobs = Object.entries(texts).map(([type, text]) =>
        [type, text.then((each) => new Blob([each], { type }))]);
      await navigator.clipboard.write([new ClipboardItem(Object.fromEntries(blobs))]);
      this.#notices.say(message);
    } catch (error) {
      // The clipboard's own error does not say why there is no text.
      const read = await Promise.allSettled(Object.values(texts));
      const reason = read.find(({ status }) => status === "rejected")?.reason ?? error;
      if (reason.name === "AbortError") this.#notices.say("Stopped copying. Nothing was copied.");
      else this.#notices.fail(reason);
    }
  }
}
