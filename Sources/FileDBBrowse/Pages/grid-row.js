// A row of the grid: the record's id and its fields, each shown according to its type.

import { element, icon } from "./dom.js";
import { picture } from "./picture.js";
import { columnType, field, lineOf, storedText, typeOf } from "./values.js";

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
  show(index, record, { isSelected, isMarked }) {
    this.node.setAttribute("aria-rowindex", index + 2);
    this.node.setAttribute("aria-selected", isSelected);
    this.node.classList.toggle("is-odd", index % 2 === 1);
    this.node.classList.toggle("is-marked", isMarked);
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
    cell.className = `cell${numeric.has(type) ? " is-number" : ""}${type ? ` is-${type}` : ""}`;
    if (type === "data" && value.media) {
      const read = () => this.#readPicture(id, column.name, this.#reading.signal);
      cell.replaceChildren(picture(read, `Picture in ${column.name}`), lineOf(value));
    } else if (type === "bool" && value) {
      cell.replaceChildren(icon("check"), "yes");
    } else {
      cell.textContent = lineOf(value);
    }
    cell.title = type === undefined || type === "bool" ? "" : storedText(value);
  }
}

function makeHandle() {
  const grip = element("span", { class: "grip", title: "Drag to move this record" }, icon("grip"));
  const tick = element("span", { class: "tick", title: "Select this record" }, icon("check"));
  const cell = element("div", { class: "cell handle", role: "rowheader", tabIndex: -1, "aria-colindex": 1 });
  cell.append(grip, tick, element("span", { class: "id" }));
  return cell;
}

function makeCell(column, index) {
  return element("div", {
    class: "cell", role: "gridcell", tabIndex: -1, "aria-colindex": index + 2, data: { field: column.name },
  });
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
    class: `cell head${isNumber ? " is-number" : ""}`,
    role: "columnheader",
    tabIndex: -1,
    "aria-colindex": index + 1,
    "aria-sort": direction,
    title: column.title ? `${column.title} (${column.name})` : `Sort the view by ${column.name}`,
    data: { column: column.name },
  });
  cell.append(element("span", { class: "head-name", textContent: column.title ?? column.name }));
  if (key !== undefined) cell.append(icon(direction === "ascending" ? "up" : "down"));
  if (index > 0) cell.append(element("span", { class: "column-edge", title: "Drag to make the column wider" }));
  return cell;
}

/** Suitable widths of the ids and the columns for these records. */
export function columnWidths(columns, records, total) {
  const widths = columns.map((column) => {
    const values = records.map((record) => field(record, column.name));
    const lengths = values.map((value) => lineOf(value).length + (value?.media ? 6 : 0));
    const longest = Math.max((column.title ?? column.name).length + 2, ...lengths);
    return Math.max(76, Math.min(longest * 8 + 32, 340));
  });
  // In most tables, the highest id is about the number of records.
  const digits = Math.max(String(total).length, ...records.map((record) => record.id.length));
  return [Math.max(96, 62 + digits * 9), ...widths.map(Math.round)];
}
