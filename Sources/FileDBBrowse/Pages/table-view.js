// A table: its records, and everything around them.

import { RecordActions } from "./actions.js";
import { RecordList, Selection } from "./api.js";
import { Arrangement, printTable } from "./columns.js";
import { askForColumn } from "./dialogs.js";
import { button, counted, element, grouped, menuButton } from "./dom.js";
import { CellEditor } from "./editing.js";
import { FilterBar } from "./filter.js";
import { Grid, rowHeight } from "./grid.js";
import { allowDragging, allowMovingColumns, allowResizing, handleKeys, handlePointer } from "./input.js";
import { brokenTable, readingTable, StatusLine, unreadTable } from "./messages.js";
import { sortText, turned } from "./values.js";

/** Stands for the ids of all records. */
const everything = { has: () => true, add: () => {} };

export class TableView {
  query = { where: "", search: "", sort: "" };
  sortKeys = [];
  /** All columns, as the server names them. */
  columns = [];
  list = null;
  /** The query and the sort keys of the list. */
  listed = null;
  /** The number of records in the table, also of those that a filter hides. */
  count = 0;
  node = element("div", { class: "table-view" });
  #work = Promise.resolve();
  #isRefreshWaiting = false;
  #changed = new Set();
  /** What is shown above the status line, unless the table cannot be read. */
  #parts;
  /** What is shown in place of records, such as a problem as JSON. */
  #instead = "";
  /** The last stop that was told, see `Api.stops`. */
  #toldStop = 0;

  /** `options`: `api`, `notices`, `isReadOnly`, `storePath`, `undoAction(step)`, `onCount(count)`. */
  constructor(name, options) {
    Object.assign(this, options);
    this.table = options.api.table(name);
    this.selection = new Selection(() => this.#selectionChanged());
    this.actions = new RecordActions(this);
    this.arrangement = new Arrangement(options.storePath, name);
    this.toolbar = new Toolbar(this);
    this.status = new StatusLine({
      keepOrder: () => this.actions.keepOrder(), endSort: () => this.endSort(),
      showEditor: (editor) => this.actions.showEditor(editor), giveUp: (editor) => this.actions.giveUp(editor),
    });
    this.grid = new Grid({
      label: `Records of ${name}`, selection: this.selection, readPicture: this.table.picture,
      onFocus: () => this.#focusChanged(), isReadOnly: this.isReadOnly, arrangement: this.arrangement,
    });
    this.filter = new FilterBar(this.table, (asked) => this.#ask({ ...this.query, ...asked }));
    this.empty = element("div", { class: "empty", hidden: true });
    this.#listenToPeople();
    this.#parts = [
      this.toolbar.node, this.filter.node, element("div", { class: "grid-area" }, this.grid.node, this.empty),
    ];
    this.node.append(...this.#parts, this.status.node);
  }

  #listenToPeople() {
    this.editor = new CellEditor(this.grid, this.actions);
    handleKeys(this.grid, this.actions, this.editor);
    handlePointer(this.grid, this.actions, this.editor);
    allowResizing(this.grid);
    allowMovingColumns(this.grid, (name, before) =>
      this.arrange((arrangement, columns) => arrangement.move(columns, name, before)));
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
      this.actions.paste(event.clipboardData.getData("text/plain"), event.clipboardData.getData("text/html"));
    });
  }

  /** The columns in the person's order, also those that are hidden. */
  get orderedColumns() {
    return this.arrangement.ordered(this.columns);
  }

  /** Arranges the columns anew: `change(arrangement, columns)`. */
  arrange(change) {
    change(this.arrangement, this.columns);
    this.#showRows(this.grid.viewport.top);
  }

  /** Whether something that a person typed was refused and is still there. */
  get hasRefused() {
    return this.editor.refused.length > 0;
  }

  /** Shows the table again that was out of sight. */
  return() {
    this.grid.viewport.scrollTo(this.grid.viewport.top);
    this.onCount(this.count);
    return this.refresh();
  }

  /** Reads the table for the first time. */
  load() {
    return this.#ask(this.query);
  }

  #ask(query) {
    this.query = query;
    // Only the newest query is read, and none after it was stopped.
    return this.#enqueue(() => (query === this.query ? this.#readNewList() : undefined));
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
    this.#work = this.#work.then(run).catch((error) => this.#failReading(error));
    return this.#work;
  }

  #failReading(error) {
    if (error.name === "AbortError") this.#sayStopped();
    else this.notices.fail(error);
  }

  async #readNewList() {
    const { query, sortKeys } = this;
    const list = new RecordList(this.table, { ...query }, {
      onArrival: () => this.grid.render(),
      onFailure: (error) => (error.name === "AbortError" ? this.#sayStopped() : this.refresh()),
    });
    const [info, [read]] = await Promise.all([this.table.info(), Promise.allSettled([list.refresh({})])]);
    if (this.#showInstead(info)) return;
    if (read.status === "rejected") throw read.reason;
    if (query !== this.query) return;
    Object.assign(this, { list, listed: { query, sortKeys } });
    this.selection.clear();
    this.grid.focused.row = 0;
    this.#show(info, 0);
    performance.mark("records");
  }

  async #refreshList() {
    const { viewport, focusedRecord, focused } = this.grid;
    const { first, last } = viewport.rows;
    const topBefore = viewport.top;
    const before = this.list.version;
    const refreshed = this.list.refresh({ ...this.#anchor(first, last), fallback: first, count: last - first + 10 });
    const [info, [read]] = await Promise.all([this.table.info(), Promise.allSettled([refreshed])]);
    if (this.#showInstead(info)) return;
    if (read.status === "rejected") throw read.reason;
    if (this.list.version !== before) await this.#keepSelection();
    const id = focusedRecord?.id;
    if (id !== undefined) focused.row = this.list.indexOf(id) ?? (await this.list.place(id)) ?? focused.row;
    viewport.scrolled();
    // Somebody who went to the beginning or jumped elsewhere while this was being read stays there.
    const hasLeft = viewport.top === 0 || Math.abs(viewport.top - topBefore) > viewport.height;
    this.#show(info, viewport.top + (hasLeft ? 0 : read.value - first) * rowHeight);
  }

  /** Records that are gone, or that the filter hides now, are no longer selected. */
  async #keepSelection() {
    const { ids } = this.selection;
    if (ids.length > 0) this.selection.keep(await this.list.present(ids));
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
    this.count = info.count;
    this.#showRows(top);
    this.filter.showExample(info.columns);
    this.onCount(info.count);
    this.status.showSort(this.sortKeys, this.isReadOnly);
    this.#focusChanged();
    this.#showEmptiness();
  }

  #showRows(top) {
    this.grid.show(this.list, { columns: this.arrangement.shown(this.columns), sortKeys: this.sortKeys }, top);
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

  /**
   * Shows a page without records for a table that is broken or still being read. What was typed and refused stays, and
   * is there again with the records.
   */
  #showInstead({ problem, reading }) {
    if (!problem && reading === undefined) {
      if (this.#instead !== "") this.node.replaceChildren(...this.#parts, this.status.node);
      this.#instead = "";
      return false;
    }
    this.list = null;
    this.onCount(undefined);
    this.status.hidePlace();
    // Somebody may be about to press its button.
    const shown = JSON.stringify([problem, reading]);
    if (shown !== this.#instead) {
      this.#showPage(shown, reading === undefined ? this.#broken(problem) : readingTable(this.table.name, reading));
    }
    return true;
  }

  #showPage(instead, page) {
    this.#instead = instead;
    this.node.replaceChildren(page, this.status.node);
  }

  #broken(problem) {
    return brokenTable(this.table, problem.message ?? problem, {
      isReadOnly: this.isReadOnly, onRepaired: this.onRepaired, onFailure: (error) => this.notices.fail(error),
    });
  }

  /** Says once what a person's stop has left, if the table is in sight. The list stays, with its query. */
  #sayStopped() {
    if (this.#toldStop === this.api.stops || !this.node.isConnected) return;
    this.#toldStop = this.api.stops;
    const { query, sortKeys } = this;
    if (!this.list) {
      this.query = { ...query };  // Otherwise, a query that waited would be read now.
      return this.#showPage("stopped", unreadTable(() => this.refresh()));
    }
    const isListed = query === this.listed?.query;
    Object.assign(this, this.listed);
    this.notices.say(
      isListed ? "Stopped reading. Rows that were not read yet are empty."
        : "Stopped reading. The list is still the one from before.",
      { label: "Read again", run: () => (isListed ? this.refresh() : this.#askAgain(query, sortKeys)) });
  }

  #askAgain(query, sortKeys) {
    this.sortKeys = sortKeys;
    this.#ask(query);
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
    this.sortAs(turned(this.sortKeys, name, mode));
  }

  endSort() {
    this.sortAs([]);
  }

  sortAs(keys) {
    this.sortKeys = keys;
    this.#ask({ ...this.query, sort: sortText(keys) });
  }

  /** Reads the newest state and moves the focus to the first of these records. `verb` begins the message about it. */
  async showRecords(ids, verb) {
    await this.refresh(ids);
    if (!this.list) return;
    const [id] = ids;
    const place = this.list.indexOf(id) ?? (await this.list.place(id));
    if (place !== null) this.grid.focusCell(place, this.grid.focused.column);
    if (verb) this.notices.say(`${verb} record ${id}.${place === null ? " The filter or the search hides it." : ""}`);
  }

  /** Prints all records that the list has. */
  print() {
    return printTable(this).catch((error) => {
      if (error.name === "AbortError") this.notices.say("Stopped printing. Nothing is printed.");
      else this.notices.fail(error);
    });
  }

  focusGrid() {
    if (!this.list) return;
    this.grid.focusCell(this.grid.focused.row, this.grid.focused.column);
  }

  #focusChanged() {
    this.status.showPlace(this.grid.focused.row, this.list.total);
  }

  #selectionChanged() {
    this.grid.render();
    this.toolbar.showSelected(this.selection.size);
  }
}

// The buttons above the records: those of the table or, if records are selected, those for them.

class Toolbar {
  #actions;
  #count = element("span", { class: "selection-count", role: "status" });
  #table;
  #selection;
  #openButton;

  /** `view` is the TableView. */
  constructor(view) {
    const { actions } = view;
    this.#actions = actions;
    const ifWritable = (...nodes) => (actions.isReadOnly ? [] : nodes);
    this.#openButton = button("Open", { shape: "open", onclick: () => actions.open() });
    this.#table = element("div", { class: "tools" },
      ...ifWritable(button("Add record", { shape: "add", kind: "is-primary", onclick: () => actions.add() })),
      ...menuButton("Columns", "columns", () => columnList(view)),
      ...menuButton("Copy", "copy", () => this.#copyItems("shown", "All shown records as")),
      button("Print", { shape: "print", onclick: () => view.print() }));
    this.#selection = element("div", { class: "tools is-selection", hidden: true },
      this.#count, this.#openButton,
      ...ifWritable(
        button("Duplicate", { shape: "duplicate", onclick: () => actions.duplicate() }),
        button("Move to…", { shape: "move", onclick: () => actions.moveTo() })),
      ...menuButton("Copy", "copy", () => this.#copyItems("selected", "Selected records as")),
      ...ifWritable(button("Delete", { shape: "trash", onclick: () => actions.remove() })),
      button("Deselect", { shape: "close", kind: "is-quiet is-icon", onclick: () => this.#deselect(view) }));
    this.node = element("div", { class: "toolbar", role: "toolbar", "aria-label": "Records" },
      this.#table, this.#selection);
  }

  #copyItems(which, words) {
    const kinds = [["table", "table for a spreadsheet"], ["csv", "CSV"], ["json", "JSON"]];
    return kinds.map(([format, name]) => ({
      label: `${words} ${name}`, run: () => this.#actions.copy(which, format),
    }));
  }

  #deselect(view) {
    view.selection.clear();
    view.focusGrid();
  }

  showSelected(count) {
    const hadFocus = this.#selection.contains(document.activeElement);
    this.#count.textContent = count === 0 ? "" : `${grouped(count)} selected`;
    this.#table.hidden = count > 0;
    this.#selection.hidden = count === 0;
    this.#openButton.hidden = count !== 1;
    if (hadFocus && count === 0) document.querySelector(".grid [tabindex='0']")?.focus();
  }
}

/** The columns with a box each, for the menu that shows and hides them. */
function columnList(view) {
  const { arrangement, columns } = view;
  const items = arrangement.ordered(columns).map(({ name, title }) => ({
    label: title ?? name,
    isChecked: !arrangement.isHidden(name),
    run: () => view.arrange(() => arrangement.hide(name, !arrangement.isHidden(name))),
  }));
  const tools = [{ label: "Arrange as before", run: () => view.arrange(() => arrangement.reset()) }];
  if (!view.isReadOnly) tools.unshift({ label: "Add a column…", run: () => askForColumn({ name: "" }, view) });
  return [...items, null, ...tools];
}
