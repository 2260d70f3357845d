// The records in rows and columns, following the ARIA grid pattern. Only visible rows exist as elements.

import { element } from "./dom.js";
import { columnWidths, decimals, headRow, idWidth, Row } from "./columns.js";

const headHeight = 36;
const spareRows = 6;

export class Grid {
  focused = { row: 0, column: 1 };
  columns = [];
  list = null;
  #rows = new Map();
  #marked = new Set();
  #layers = new Set();
  #dragged = new Set();
  #widths = [];
  #fittedWidth = 0;
  #columnsKey = "";
  #hasFocus = false;

  /**
   * `options`: `label`, `selection`, `readPicture(id, field, signal)`, `onFocus()`, `isReadOnly`, `arrangement` of the
   * columns.
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
    new ResizeObserver(() => {
      this.#fit();
      this.render();
    }).observe(this.node);
  }

  /** Shows a list that has been read, with the row `top` first. */
  show(list, { columns, sortKeys }, top) {
    const isNewList = list !== this.list;
    const key = JSON.stringify([columns, sortKeys]);
    const hadFocus = this.#hasFocus;
    this.list = list;
    if (isNewList || key !== this.#columnsKey) this.#setColumns(columns, sortKeys);
    this.#columnsKey = key;
    this.grid.setAttribute("aria-rowcount", list.total + 1);
    this.focused.row = Math.min(this.focused.row, list.total - 1);
    this.viewport.count = list.total;
    this.viewport.scrollTo(top);
    this.render();
    // The record with the focus may now be in another row.
    if (hadFocus) this.cell(this.focused.row, this.focused.column)?.focus({ preventScroll: true });
  }

  #setColumns(columns, sortKeys) {
    const sample = this.#sample;
    this.columns = columns.map((column) => ({ ...column, decimals: decimals(column, sample) }));
    for (const row of this.#rows.values()) row.node.remove();
    this.#rows.clear();
    this.focused.column = Math.max(0, Math.min(this.focused.column, columns.length));
    this.#fittedWidth = 0;
    this.#fit();
    this.grid.setAttribute("aria-colcount", columns.length + 1);
    this.head.replaceChildren(headRow(this.columns, sortKeys));
  }

  /** Some records that are shown. */
  get #sample() {
    const { first } = this.viewport.rows;
    return Array.from({ length: 60 }, (_, index) => this.list.record(first + index)).filter(Boolean);
  }

  /** Makes the columns fill the window. */
  #fit() {
    const { clientWidth } = this.node;
    if (!this.list || clientWidth === 0 || clientWidth === this.#fittedWidth) return;
    this.#fittedWidth = clientWidth;
    const sample = this.#sample;
    const ids = idWidth(sample, this.list.total);
    const chosen = (name) => this.options.arrangement.width(name);
    this.#widths = [ids, ...columnWidths(this.columns, sample, clientWidth - ids, chosen)];
    this.#showWidths();
  }

  #showWidths() {
    const template = this.#widths.map((width) => `${width}px`).join(" ");
    this.grid.style.setProperty("--columns", template);
    let left = this.#widths[0];
    this.columns.forEach(({ isPinned }, index) => {
      if (!isPinned) return;
      this.grid.style.setProperty(`--left-${index + 1}`, `${left}px`);
      left += this.#widths[index + 1];
    });
    this.node.style.setProperty("--ids", `${left}px`);
  }

  /** The width of what stays at the left: the ids and the pinned columns. */
  get #fixedWidth() {
    const count = this.columns.filter(({ isPinned }) => isPinned).length;
    return this.#widths.slice(0, count + 1).reduce((sum, width) => sum + width, 0);
  }

  widthOf(column) {
    return this.#widths[column];
  }

  /** Changes the width of a column, but not that of the ids. */
  resize(column, width) {
    if (column === 0) return;
    this.#widths[column] = this.options.arrangement.setWidth(this.columns[column - 1].name, width);
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
      isDragged: Boolean(record) && this.#dragged.has(record.id),
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
    if (this.focused.column === 0 || this.columns[this.focused.column - 1].isPinned) return;
    const { scrollLeft, clientWidth } = this.node;
    const left = cell.offsetLeft - this.#fixedWidth;
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

  /** Dims the records that are being dragged. */
  dim(ids) {
    this.#dragged = new Set(ids);
    this.render();
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

  /** The place of a field; undefined while its record has not been read, or has no such column. */
  placeOfField(id, name) {
    const row = this.list.indexOf(id);
    const index = this.columns.findIndex((column) => column.name === name);
    return row === undefined || index < 0 ? undefined : { row, column: index + 1 };
  }

  #placeLayer({ node, place }) {
    const { row, column } = place() ?? {};
    const cell = this.cell(row, column);
    // What has the focus would lose it if it were hidden.
    node.classList.toggle("is-away", !cell);
    if (!cell) return;
    node.style.setProperty("--cell-width", `${cell.offsetWidth}px`);
    node.style.top = `${headHeight + this.viewport.position(row)}px`;
    const left = column === 0 ? this.node.scrollLeft : cell.offsetLeft;
    const rightmost = Math.max(this.#fixedWidth, this.node.scrollLeft + this.node.clientWidth - node.offsetWidth - 4);
    node.style.left = `${Math.max(0, Math.min(left, rightmost))}px`;
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

// Which rows are visible, and where. Browsers limit the height of an element (Chromium to 33,554,428 pixels, others to
// less). So with many rows, the scroll bar covers less than the height of the rows: small scrolling moves by pixels,
// and large jumps go to the proportional place.

export const rowHeight = 34;
const greatestHeight = 16_000_000;

class Viewport {
  /** The height in pixels of the rows above the first visible one. */
  top = 0;
  #scroller;
  #body;
  #headHeight;
  #count = 0;
  #lastScroll = 0;

  constructor(scroller, body, headHeight) {
    this.#scroller = scroller;
    this.#body = body;
    this.#headHeight = headHeight;
  }

  get height() {
    return Math.max(rowHeight, this.#scroller.clientHeight - this.#headHeight);
  }

  get count() {
    return this.#count;
  }

  set count(count) {
    this.#count = count;
    this.#body.style.height = `${Math.min(count * rowHeight, greatestHeight)}px`;
    this.scrollTo(this.top);
  }

  /** The first and the last row that are at least partly visible. */
  get rows() {
    const first = Math.floor(this.top / rowHeight);
    const last = Math.floor((this.top + this.height - 1) / rowHeight);
    return { first, last: Math.min(last, this.#count - 1) };
  }

  /** The present place of a row in the body. */
  position(row) {
    const position = row * rowHeight - this.top + this.#lastScroll;
    const lowest = Math.max(0, Math.min(this.#count * rowHeight, greatestHeight) - rowHeight);
    return Math.max(0, Math.min(position, lowest));
  }

  /** The row, or the gap above it, at a distance from the upper edge of the rows. */
  rowAt(distance) {
    return (this.top + distance) / rowHeight;
  }

  scrollTo(top) {
    this.top = Math.max(0, Math.min(top, this.#greatestTop));
    this.#align();
  }

  /** Scrolls no further than necessary to make a row visible. */
  reveal(row) {
    if (row * rowHeight < this.top) this.scrollTo(row * rowHeight);
    else if ((row + 1) * rowHeight > this.top + this.height) this.scrollTo((row + 1) * rowHeight - this.height);
  }

  /** Called after the person has scrolled. */
  scrolled() {
    const scroll = this.#scroller.scrollTop;
    const moved = scroll - this.#lastScroll;
    if (moved === 0) return;
    const isSmall = Math.abs(moved) < 2 * this.height;
    const top = isSmall ? this.top + moved : scroll * this.#ratio;
    this.#lastScroll = scroll;
    this.top = Math.max(0, Math.min(top, this.#greatestTop));
    const isNearAnEnd = scroll < this.height || scroll > this.#greatestScroll - this.height;
    if (isSmall && isNearAnEnd) this.#align();
  }

  get #greatestTop() {
    return Math.max(0, this.#count * rowHeight - this.height);
  }

  get #greatestScroll() {
    return Math.max(0, Math.min(this.#count * rowHeight, greatestHeight) - this.height);
  }

  get #ratio() {
    return this.#greatestScroll === 0 ? 1 : this.#greatestTop / this.#greatestScroll;
  }

  /** Moves the scroll bar to the place of the rows. */
  #align() {
    this.#scroller.scrollTop = this.top / this.#ratio;
    this.#lastScroll = this.#scroller.scrollTop;
  }
}
