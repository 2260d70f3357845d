// A table: its records, and everything around them.

import { brokenTable } from "./broken-table.js";
import { CellEditor } from "./cell-editor.js";
import { allowResizing } from "./column-edges.js";
import { ColumnWidths } from "./column-widths.js";
import { button, counted, element } from "./dom.js";
import { allowDragging } from "./drag.js";
import { FilterBar } from "./filter-bar.js";
import { Grid } from "./grid.js";
import { handleKeys } from "./grid-keys.js";
import { handlePointer } from "./grid-pointer.js";
import { readingTable } from "./reading-table.js";
import { RecordActions } from "./record-actions.js";
import { RecordList } from "./record-list.js";
import { Selection } from "./selection.js";
import { sortText, turned } from "./sort-keys.js";
import { StatusLine, toolbar } from "./toolbar.js";
import { rowHeight } from "./viewport.js";

/** Stands for the ids of all records. */
const everything = { has: () => true, add: () => {} };

export class TableView {
  query = { where: "", search: "", sort: "" };
  sortKeys = [];
  columns = [];
  list = null;
  node = element("div", { class: "table-view" });
  #work = Promise.resolve();
  #isRefreshWaiting = false;
  #changed = new Set();

  /** `options`: `api`, `notices`, `isReadOnly`, `undo()`, `onCount(count)`. */
  constructor(name, options) {
    Object.assign(this, options);
    this.table = options.api.table(name);
    this.selection = new Selection(() => this.#selectionChanged());
    this.actions = new RecordActions(this);
    this.status = new StatusLine({ keepOrder: () => this.actions.keepOrder(), endSort: () => this.endSort() });
    this.grid = new Grid({
      label: `Records of ${name}`, selection: this.selection, readPicture: this.table.picture,
      onFocus: () => this.#focusChanged(), isReadOnly: this.isReadOnly, chosenWidths: new ColumnWidths(name),
    });
    this.filter = new FilterBar(this.table, (asked) => this.#ask({ ...this.query, ...asked }));
    this.empty = element("div", { class: "empty", hidden: true });
    this.#listenToPeople();
    this.node.append(
      toolbar(this.actions), this.filter.node,
      element("div", { class: "grid-area" }, this.grid.node, this.empty), this.status.node);
  }

  #listenToPeople() {
    const editor = new CellEditor(this.grid, this.actions);
    handleKeys(this.grid, this.actions, editor);
    handlePointer(this.grid, this.actions, editor);
    allowResizing(this.grid);
    allowDragging(this.grid, {
      idsFor: (row) => this.actions.draggedIds(row), drop: (ids, gap) => this.actions.drop(ids, gap),
    });
    this.grid.node.addEventListener("copy", (event) => {
      if (event.target.closest("input, textarea")) return;
      event.preventDefault();
      this.actions.copyHere();
    });
    this.node.addEventListener("paste", (event) => {
      if (event.target.closest("input, textarea")) return;
      event.preventDefault();
      this.actions.paste(event.clipboardData.getData("text/plain"));
    });
  }

  /** Reads the table for the first time. */
  load() {
    return this.#ask(this.query);
  }

  #ask(query) {
    this.query = query;
    return this.#enqueue(() => this.#readNewList());
  }

  /** Reads the newest state and keeps the view at a visible record that is not one of `changed`. */
  refresh(changed = []) {
    for (const id of changed) this.#changed.add(id);
    return this.#refreshSoon();
  }

  /** Reads the newest state after every record may have changed, and shows the rows at the same places. */
  reread() {
    this.#changed = everything;
    return this.#refreshSoon();
  }

  #refreshSoon() {
    if (this.#isRefreshWaiting) return this.#work;
    this.#isRefreshWaiting = true;
    return this.#enqueue(() => {
      this.#isRefreshWaiting = false;
      return this.list ? this.#refreshList() : this.#readNewList();
    });
  }

  #enqueue(run) {
    this.#work = this.#work.then(run).catch((error) => this.notices.fail(error));
    return this.#work;
  }

  async #readNewList() {
    const list = new RecordList(this.table, { ...this.query }, {
      onArrival: () => this.grid.render(), onFailure: () => this.refresh(),
    });
    const [info, [read]] = await Promise.all([this.table.info(), Promise.allSettled([list.refresh({})])]);
    if (this.#showInstead(info)) return;
    if (read.status === "rejected") throw read.reason;
    this.list = list;
    this.selection.clear();
    this.grid.focused.row = 0;
    this.#show(info, 0);
    performance.mark("records");
  }

  async #refreshList() {
    const { viewport, focusedRecord, focused } = this.grid;
    const { first, last } = viewport.rows;
    const topBefore = viewport.top;
    const refreshed = this.list.refresh({ ...this.#anchor(first, last), fallback: first, count: last - first + 10 });
    const [info, [read]] = await Promise.all([this.table.info(), Promise.allSettled([refreshed])]);
    if (this.#showInstead(info)) return;
    if (read.status === "rejected") throw read.reason;
    const id = focusedRecord?.id;
    if (id !== undefined) focused.row = this.list.indexOf(id) ?? (await this.list.place(id)) ?? focused.row;
    viewport.scrolled();
    // Somebody who went to the beginning or jumped elsewhere while this was being read stays there.
    const hasLeft = viewport.top === 0 || Math.abs(viewport.top - topBefore) > viewport.height;
    this.#show(info, viewport.top + (hasLeft ? 0 : read.value - first) * rowHeight);
  }

  #anchor(first, last) {
    const changed = this.#changed;
    this.#changed = new Set();
    // If the beginning is shown, keep showing it, with what was added there.
    if (this.grid.viewport.top === 0) return {};
    for (let row = first; row <= last; row++) {
      const anchor = this.list.record(row)?.id;
      if (anchor !== undefined && !changed.has(anchor)) return { anchor, above: row - first };
    }
    return {};
  }

  #show(info, top) {
    this.columns = info.columns;
    this.grid.show(this.list, { columns: info.columns, sortKeys: this.sortKeys }, top);
    this.filter.showExample(info.columns);
    this.onCount(info.count);
    this.status.showSort(this.sortKeys, this.isReadOnly);
    this.#focusChanged();
    this.#showEmptiness();
  }

  #showEmptiness() {
    const isFiltered = this.query.where !== "" || this.query.search !== "";
    this.empty.hidden = this.list.total > 0;
    if (this.list.total > 0) return;
    const [title, text, action] = isFiltered ? this.#nothingFound() : this.#nothingThere();
    this.empty.replaceChildren(
      element("h2", { textContent: title }), element("p", { textContent: text }), ...(action ? [action] : []));
  }

  #nothingFound() {
    const action = button("Show all records", { onclick: () => this.filter.clear() });
    return ["No record matches", "Change the filter or the search, or show all records again.", action];
  }

  #nothingThere() {
    if (this.isReadOnly) return ["No records yet", "This table is empty."];
    const action = button("Add record", { shape: "add", kind: "is-primary", onclick: () => this.actions.add() });
    const text = "Add the first one, paste lines of a spreadsheet, or import a file in a terminal: filedb import";
    return ["No records yet", text, action];
  }

  /** Shows a page without records for a table that is broken or still being read. */
  #showInstead({ problem, reading }) {
    if (!problem && reading === undefined) return false;
    this.list = null;
    this.node.replaceChildren(reading === undefined ? this.#broken(problem) : readingTable(this.table.name, reading));
    return true;
  }

  #broken(problem) {
    return brokenTable(this.table, problem.message ?? problem, {
      isReadOnly: this.isReadOnly, onRepaired: this.onRepaired, onFailure: (error) => this.notices.fail(error),
    });
  }

  /** Called after somebody has changed the table. */
  async receive({ version, ids, origin }) {
    if (version !== this.list?.version) await this.refresh(ids ?? []);
    if (origin !== "elsewhere") return;
    this.grid.mark(ids ?? []);
    const what = ids?.length ? counted(ids.length, "record") : "The table";
    this.notices.say(`${what} changed elsewhere.`);
  }

  /** Sorts the view by a field, see `turned`. The stored order does not change. */
  sortBy(name, mode) {
    this.#sortAs(turned(this.sortKeys, name, mode));
  }

  endSort() {
    this.#sortAs([]);
  }

  #sortAs(keys) {
    this.sortKeys = keys;
    this.#ask({ ...this.query, sort: sortText(keys) });
  }

  /** Reads the newest state and moves the focus to the first of these records. `verb` begins the message about it. */
  async showRecords(ids, verb) {
    await this.refresh(ids);
    const [id] = ids;
    const place = this.list.indexOf(id) ?? (await this.list.place(id));
    if (place !== null) this.grid.focusCell(place, this.grid.focused.column);
    if (verb) this.notices.say(`${verb} record ${id}.${place === null ? " The filter or the search hides it." : ""}`);
  }

  focusGrid() {
    this.grid.focusCell(this.grid.focused.row, this.grid.focused.column);
  }

  #focusChanged() {
    this.status.showPlace(this.grid.focused.row, this.list.total);
  }

  #selectionChanged() {
    this.grid.render();
    this.status.showSelected(this.selection.size);
  }
}
