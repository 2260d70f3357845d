// A row of the grid: the record's id and its fields, each shown according to its type.

import { element, icon, picture } from "./dom.js";
import { columnType, field, fractionDigits, lineOf, sameValue, storedText, typeOf } from "./values.js";

const numeric = new Set(["integer", "float"]);

export class Row {
  node = element("div", { class: "row", role: "row" });
  #columns;
  #readPicture;
  #reading = new AbortController();
  #cells;
  #shown;

  /** `readPicture(id, field, signal)` reads a field that is a picture. */
  constructor(columns, readPicture) {
    this.#columns = columns;
    this.#readPicture = readPicture;
    this.#cells = [makeHandle(), ...columns.map(makeCell)];
    this.node.append(...this.#cells);
  }

  cell(column) {
    return this.#cells[column];
  }

  /** `record` is undefined while it is being read. */
  show(index, record, { isSelected, isMarked, isDragged }) {
    this.node.setAttribute("aria-rowindex", index + 2);
    this.node.setAttribute("aria-selected", isSelected);
    this.node.classList.toggle("is-odd", index % 2 === 1);
    this.node.classList.toggle("is-marked", isMarked);
    this.node.classList.toggle("is-dragged", isDragged);
    this.node.classList.toggle("is-loading", !record);
    if (record === this.#shown && record) return;
    this.#shown = record;
    this.#reading.abort();
    this.#reading = new AbortController();
    this.node.dataset.id = record?.id ?? "";
    this.#cells[0].lastChild.textContent = record?.id ?? "";
    this.#columns.forEach((column, index) => {
      this.#fill(this.#cells[index + 1], record && field(record, column.name), record?.id, column);
    });
  }

  #fill(cell, value, id, column) {
    const type = typeOf(value);
    cell.className = cellClass(column, type);
    cell.replaceChildren(...this.#content(value, type, id, column));
    cell.title = type === undefined || type === "bool" ? "" : storedText(value);
  }

  #content(value, type, id, column) {
    if (type === "bool") return [checkbox(value), element("span", { class: "unseen", textContent: lineOf(value) })];
    // Where a value is missing, a click makes one.
    if (type === undefined && id !== undefined && columnType(column.type) === "bool") return [checkbox(undefined)];
    if (type === "data" && value.media) {
      const read = () => this.#readPicture(id, column.name, this.#reading.signal);
      return [picture(read, `Picture in ${column.name}`), lineOf(value)];
    }
    if (type !== undefined && column.values) return [pill(value, column.values)];
    if (type === "array" && value.array?.length > 0) return value.array.flatMap((each) => [pill(each, []), " "]);
    if (type === "float" && column.decimals > 0) return [lineOf(value), decimalPad(value, column.decimals)];
    return [lineOf(value)];
  }
}

function cellClass(column, type) {
  const kinds = [numeric.has(type) ? "is-number" : "", type ? `is-${type}` : "", column.isPinned ? "is-pinned" : ""];
  return ["cell", ...kinds.filter(Boolean)].join(" ");
}

const checkbox = (value) =>
  element("span", { class: `box${value ? " is-on" : value === undefined ? " is-missing" : ""}` },
    value ? icon("check") : null);

/** A value as a pill. Those of a choice have the tint of their place in it. */
function pill(value, choice) {
  const index = choice.findIndex((each) => sameValue(each, value));
  const node = element("span", { class: `pill${index < 0 ? "" : ` tint-${index % 6}`}`, textContent: lineOf(value) });
  node.dir = "auto";
  return node;
}

/** As wide as the digits that the number has less than others of its column. */
function decimalPad(value, decimals) {
  const digits = fractionDigits(value);
  const text = (digits === 0 ? "." : "") + "0".repeat(Math.max(0, decimals - digits));
  return element("span", { class: "decimal-pad", "aria-hidden": "true", textContent: text });
}

function makeHandle() {
  const grip = element("span", { class: "grip", title: "Drag to move this record" }, icon("grip"));
  const tick = element("span", { class: "tick", title: "Select this record" }, icon("check"));
  const cell = element("div", { class: "cell handle", role: "rowheader", tabIndex: -1, "aria-colindex": 1 });
  cell.append(grip, tick, element("span", { class: "id" }));
  return cell;
}

function makeCell(column, index) {
  const cell = element("div", {
    class: "cell", role: "gridcell", tabIndex: -1, "aria-colindex": index + 2, dir: "auto",
    data: { field: column.name },
  });
  if (column.isPinned) cell.style.left = `var(--left-${index + 1})`;
  return cell;
}

/** The row with the names of the columns. */
export function headRow(columns, keys) {
  const row = element("div", { class: "row head-row", role: "row", "aria-rowindex": 1 });
  row.append(...[{ name: "id" }, ...columns].map((column, index) => headCell(column, index, keys)));
  return row;
}

function headCell(column, index, keys) {
  const key = keys.find(({ name }) => name === column.name);
  const direction = key === undefined ? "none" : key.isDescending ? "descending" : "ascending";
  const isNumber = index > 0 && numeric.has(columnType(column.type));
  const cell = element("div", {
    class: `cell head${isNumber ? " is-number" : ""}${column.isPinned ? " is-pinned" : ""}`,
    role: "columnheader",
    tabIndex: -1,
    "aria-colindex": index + 1,
    "aria-sort": direction,
    title: column.title ? `${column.title} (${column.name})` : `Sort the view by ${column.name}`,
    data: { column: column.name },
  });
  if (column.isPinned) cell.style.left = `var(--left-${index})`;
  cell.append(element("span", { class: "head-name", dir: "auto", textContent: column.title ?? column.name }));
  if (key !== undefined) cell.append(icon(direction === "ascending" ? "up" : "down"));
  if (index > 0) {
    const menu = element("span", { class: "head-menu", title: "More: Alt and arrow down" }, icon("more"));
    cell.append(menu, element("span", { class: "column-edge", title: "Drag to make the column wider" }));
  }
  return cell;
}
