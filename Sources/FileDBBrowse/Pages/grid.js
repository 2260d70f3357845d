// The records in rows and columns, following the ARIA grid pattern. Only visible rows exist as elements.

import { element } from "./dom.js";
import { columnWidths, headRow, Row } from "./grid-row.js";
import { rowHeight, Viewport } from "./viewport.js";

const headHeight = 36;
const spareRows = 6;

export class Grid {
  focused = { row: 0, column: 1 };
  columns = [];
  list = null;
  #rows = new Map();
  #marked = new Set();
  #layers = new Set();
  #widths = [];
  #hasFocus = false;

  /**
   * `options`: `label`, `selection`, `readPicture(id, field, signal)`, `onFocus()`, `isReadOnly`, `chosenWidths`, which
   * keeps the widths from `resize`.
   */
  constructor(options) {
    this.options = options;
    this.head = element("div", { class: "grid-head", role: "rowgroup" });
    this.body = element("div", { class: "grid-body", role: "rowgroup" });
    this.grid = element(
      "div",
      {
        class: "grid", role: "grid", "aria-label": options.label, "aria-multiselectable": "true",
        "aria-readonly": String(Boolean(options.isReadOnly)),
      },
      this.head, this.body);
    this.node = element("div", { class: "grid-scroller" }, this.grid);
    this.viewport = new Viewport(this.node, this.body, headHeight);
    this.node.addEventListener("scroll", () => {
      this.viewport.scrolled();
      this.render();
    });
    this.grid.addEventListener("focusin", () => (this.#hasFocus = true));
    this.grid.addEventListener("focusout", () => (this.#hasFocus = false));
    new ResizeObserver(() => this.render()).observe(this.node);
  }

  /** Shows a list that has been read, with the row `top` first. */
  show(list, { columns, sortKeys }, top) {
    const isNewList = list !== this.list;
    const hadFocus = this.#hasFocus;
    this.list = list;
    if (isNewList || JSON.stringify(columns) !== JSON.stringify(this.columns)) this.#setColumns(columns, sortKeys);
    this.grid.setAttribute("aria-rowcount", list.total + 1);
    this.focused.row = Math.min(this.focused.row, list.total - 1);
    this.viewport.count = list.total;
    this.viewport.scrollTo(top);
    this.render();
    // The record with the focus may now be in another row.
    if (hadFocus) this.cell(this.focused.row, this.focused.column)?.focus({ preventScroll: true });
  }

  #setColumns(columns, sortKeys) {
    this.columns = columns;
    for (const row of this.#rows.values()) row.node.remove();
    this.#rows.clear();
    this.focused.column = Math.max(0, Math.min(this.focused.column, columns.length));
    const sample = Array.from({ length: 60 }, (_, index) => this.list.record(this.viewport.rows.first + index));
    const [ids, ...widths] = columnWidths(columns, sample.filter(Boolean), this.list.total);
    const { chosenWidths } = this.options;
    this.#widths = [ids, ...widths.map((width, index) => chosenWidths.get(columns[index].name) ?? width)];
    this.#showWidths();
    this.grid.setAttribute("aria-colcount", columns.length + 1);
    this.head.replaceChildren(headRow(columns, sortKeys));
  }

  #showWidths() {
    const template = this.#widths.map((width) => `${width}px`).join(" ");
    this.grid.style.setProperty("--columns", template);
    this.node.style.setProperty("--ids", `${this.#widths[0]}px`);
  }

  widthOf(column) {
    return this.#widths[column];
  }

  /** Changes the width of a column, but not that of the ids. */
  resize(column, width) {
    if (column === 0) return;
    this.#widths[column] = this.options.chosenWidths.set(this.columns[column - 1].name, width);
    this.#showWidths();
  }

  render() {
    if (!this.list) return;
    const { first, last } = this.viewport.rows;
    this.list.want(first, last);
    const needed = new Set();
    for (let row = Math.max(0, first - spareRows); row <= Math.min(last + spareRows, this.list.total - 1); row++) {
      needed.add(row);
    }
    // The row with the focus stays, wherever it is: removing an element would remove the focus.
    if (this.focused.row >= 0) needed.add(this.focused.row);
    const free = [...this.#rows.keys()].filter((row) => !needed.has(row));
    for (const row of needed) if (!this.#rows.has(row)) this.#rows.set(row, this.#takeRow(free));
    for (const row of free) this.#dropRow(row);
    for (const [index, row] of this.#rows) this.#showRow(index, row);
    this.#placeTabStop();
    for (const layer of this.#layers) this.#placeLayer(layer);
  }

  #takeRow(free) {
    const number = free.pop();
    if (number !== undefined) {
      const row = this.#rows.get(number);
      this.#rows.delete(number);
      return row;
    }
    const row = new Row(this.columns, this.options.readPicture);
    this.body.append(row.node);
    return row;
  }

  #dropRow(number) {
    this.#rows.get(number).node.remove();
    this.#rows.delete(number);
  }

  #showRow(index, row) {
    const record = this.list.record(index);
    row.node.style.top = `${this.viewport.position(index)}px`;
    row.show(index, record, {
      isSelected: Boolean(record) && this.options.selection.has(record.id),
      isMarked: Boolean(record) && this.#marked.has(record.id),
    });
  }

  /** The Tab key reaches one of the cells. The arrow keys lead to the others. */
  #placeTabStop() {
    const current = this.cell(this.focused.row, this.focused.column) ?? this.cell(-1, this.focused.column);
    for (const cell of this.grid.querySelectorAll('[tabindex="0"]')) if (cell !== current) cell.tabIndex = -1;
    if (current) current.tabIndex = 0;
  }

  /** The element of a cell, if its row exists now. Row -1 is the head, and column 0 has the ids. */
  cell(row, column) {
    return row < 0 ? this.head.firstChild?.children[column] : this.#rows.get(row)?.cell(column);
  }

  /** The cell at the pointer. Row -1 is the head. Undefined outside the cells. */
  placeOf(node) {
    const cell = node.closest('[role="gridcell"], [role="rowheader"], [role="columnheader"]');
    const column = Number(cell?.getAttribute("aria-colindex")) - 1;
    return cell ? { row: Number(cell.parentElement.getAttribute("aria-rowindex")) - 2, column } : undefined;
  }

  get focusedRecord() {
    return this.list?.record(this.focused.row);
  }

  /** Row -1 is the head. */
  focusCell(row, column) {
    if (!this.list) return;
    this.focused = {
      row: Math.max(-1, Math.min(row, this.list.total - 1)),
      column: Math.max(0, Math.min(column, this.columns.length)),
    };
    if (this.focused.row >= 0) this.viewport.reveal(this.focused.row);
    this.render();
    const cell = this.cell(this.focused.row, this.focused.column);
    cell.focus({ preventScroll: true });
    this.#revealColumn(cell);
    this.options.onFocus();
  }

  /** The ids stay at the left, so a cell must not be scrolled under them. */
  #revealColumn(cell) {
    if (this.focused.column === 0) return;
    const { scrollLeft, clientWidth } = this.node;
    const left = cell.offsetLeft - this.#widths[0];
    const right = cell.offsetLeft + cell.offsetWidth;
    if (left < scrollLeft) this.node.scrollLeft = left;
    else if (right > scrollLeft + clientWidth) this.node.scrollLeft = Math.min(left, right - clientWidth);
  }

  /** Highlights records for a while that another program has changed. */
  mark(ids) {
    for (const id of ids) this.#marked.add(id);
    this.render();
    setTimeout(() => {
      for (const id of ids) this.#marked.delete(id);
      this.render();
    }, 4000);
  }

  /** Puts an element over a cell. It moves with the rows. `removeLayer` removes it. */
  addLayer(node, place) {
    const layer = { node, place };
    this.#layers.add(layer);
    this.node.append(node);
    this.#placeLayer(layer);
    return layer;
  }

  removeLayer(layer) {
    this.#layers.delete(layer);
    layer.node.remove();
  }

  #placeLayer({ node, place }) {
    const { row, column } = place();
    const cell = this.cell(row, column);
    if (!cell) return;
    node.style.top = `${headHeight + this.viewport.position(row)}px`;
    node.style.left = `${column === 0 ? this.node.scrollLeft : cell.offsetLeft}px`;
    node.style.setProperty("--cell-width", `${cell.offsetWidth}px`);
  }

  /** The number of rows on a page. */
  get pageRows() {
    return Math.max(1, Math.floor(this.viewport.height / rowHeight) - 1);
  }

  /** The upper edge of the rows on the screen. */
  get rowsTop() {
    return this.node.getBoundingClientRect().top + headHeight;
  }
}
