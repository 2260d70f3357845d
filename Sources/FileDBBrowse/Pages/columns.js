// The columns of a table, in which order and how wide they are shown, and the rows of the grid with their cells. People
// arrange columns in the browser. The store knows nothing of it.

import { element, icon, picture } from "./dom.js";
import { columnType, field, fractionDigits, lineOf, sameValue, storedText, typeOf } from "./values.js";

const narrowest = 56;
const widest = 1600;
/** What a column has besides its text. */
const padding = 26;
const widestUnasked = 340;
/** The width at which a text still tells something. */
const readable = 150;
/** So much more than it needs, a column of text gets before the others get more, too. */
const widestStretch = 160;

/** Names of fields that tell records apart, the best first. */
const names = ["name", "title", "label", "subject", "headline", "firstname", "first_name", "key"];

/** The field by which people know a record; undefined if there is none. */
export function nameColumn(columns) {
  const text = columns.filter(({ type }) => type === "string" || type === null);
  const known = names.map((each) => text.find(({ name }) => name.toLowerCase() === each));
  const similar = text.find(({ name }) => /name|title/i.test(name));
  return known.find(Boolean) ?? similar ?? columns.find(({ declared, type }) => declared && type === "string");
}

/**
 * The columns as they are before anybody arranges them. A schema that names most of them is an order. If it just has
 * rules for some, the name is first.
 */
function initial(columns) {
  const isOrdered = columns.filter(({ declared }) => declared).length * 2 > columns.length;
  const first = isOrdered ? undefined : nameColumn(columns);
  return first ? [first, ...columns.filter((each) => each !== first)] : columns;
}

/** How a person arranged a table's columns. The browser keeps it. */
export class Arrangement {
  #key;
  #order = [];
  #hidden = new Set();
  #pinned = new Set();
  #widths = new Map();

  /** `store` is the store's path. */
  constructor(store, table) {
    this.#key = `filedb-columns${store}/${table}`;
    const { order = [], hidden = [], pinned = [], widths = [] } = JSON.parse(localStorage.getItem(this.#key) ?? "{}");
    this.#order = order;
    this.#hidden = new Set(hidden);
    this.#pinned = new Set(pinned);
    this.#widths = new Map(widths);
  }

  #keep() {
    localStorage.setItem(this.#key, JSON.stringify({
      order: this.#order, hidden: [...this.#hidden], pinned: [...this.#pinned], widths: [...this.#widths],
    }));
  }

  /** All columns in their order. Those that stay at the left are first. */
  ordered(columns) {
    const known = this.#order.map((name) => columns.find((each) => each.name === name)).filter(Boolean);
    const all = [...known, ...initial(columns).filter((each) => !known.includes(each))];
    return [...all.filter(({ name }) => this.#pinned.has(name)), ...all.filter(({ name }) => !this.#pinned.has(name))];
  }

  /** The columns that are shown, in their order. */
  shown(columns) {
    const shown = this.ordered(columns).filter(({ name }) => !this.#hidden.has(name));
    return shown.map((column) => ({ ...column, isPinned: this.#pinned.has(column.name) }));
  }

  isHidden(name) {
    return this.#hidden.has(name);
  }

  hide(name, isHidden) {
    if (isHidden) this.#hidden.add(name);
    else this.#hidden.delete(name);
    this.#keep();
  }

  pin(name, isPinned) {
    if (isPinned) this.#pinned.add(name);
    else this.#pinned.delete(name);
    this.#keep();
  }

  /** Puts a column before another, or last if there is none. A column that crosses the pinned ones becomes one. */
  move(columns, name, before) {
    const others = this.ordered(columns).map((each) => each.name).filter((each) => each !== name);
    const place = before === undefined ? others.length : others.indexOf(before);
    this.#order = others.toSpliced(place, 0, name);
    if (before !== undefined && this.#pinned.has(before)) this.#pinned.add(name);
    else if (this.#pinned.has(name) && !this.#pinned.has(before)) this.#pinned.delete(name);
    this.#keep();
  }

  /** Follows a column that gets another name. */
  rename(name, to) {
    const renamed = (each) => (each === name ? to : each);
    this.#order = this.#order.map(renamed);
    this.#hidden = new Set([...this.#hidden].map(renamed));
    this.#pinned = new Set([...this.#pinned].map(renamed));
    this.#widths = new Map([...this.#widths].map(([each, width]) => [renamed(each), width]));
    this.#keep();
  }

  reset() {
    this.#order = [];
    this.#hidden.clear();
    this.#pinned.clear();
    this.#widths.clear();
    localStorage.removeItem(this.#key);
  }

  /** The width of a column; undefined if nobody chose one. */
  width(name) {
    return this.#widths.get(name);
  }

  /** Keeps a width and returns it, limited to a sensible range. */
  setWidth(name, width) {
    const allowed = Math.round(Math.max(narrowest, Math.min(width, widest)));
    this.#widths.set(name, allowed);
    this.#keep();
    return allowed;
  }
}

// Widths

const pen = document.createElement("canvas").getContext("2d");

function textWidth(text, weight) {
  const { fontFamily } = getComputedStyle(document.body);
  pen.font = `${weight === "bold" ? "600 12.5px" : "14px"} ${fontFamily}`;
  return pen.measureText(text).width;
}

/** The digits after the point that a column of numbers needs, so that the points are below each other. */
export function decimals(column, records) {
  const digits = records.map((record) => fractionDigits(field(record, column.name)));
  return Math.min(8, Math.max(0, ...digits));
}

function valueWidth(value, column) {
  const type = typeOf(value);
  const pills = type === "array" && value.array ? value.array.length * 18 : column.values ? 18 : 0;
  // The digits of numbers and dates all have the width of the widest.
  const digits = ["integer", "float", "date"].includes(type) ? 1.12 : 1;
  return textWidth(lineOf(value), "normal") * digits + pills + (value?.media ? 56 : 0);
}

function wantedWidth(column, records) {
  const head = textWidth(column.title ?? column.name, "bold") + 26;
  const values = records.map((record) => valueWidth(field(record, column.name), column));
  return Math.ceil(Math.max(64, head + padding, Math.max(0, ...values) + padding + column.decimals * 3));
}

const stretches = (column) => ["string", null, "json", "dictionary", "array"].includes(columnType(column.type ?? null));

/**
 * The widths of columns for these records, which fill `space` if they would be narrower. `chosen(name)` is the width
 * that a person chose.
 */
export function columnWidths(columns, records, space, chosen) {
  const wanted = columns.map((column) => wantedWidth(column, records));
  // In a narrow window, the next column is seen to begin.
  const widestNow = Math.max(narrowest, Math.min(widestUnasked, space * 0.8));
  const widths = columns.map(({ name }, index) => chosen(name) ?? Math.min(wanted[index], widestNow));
  const isFree = (index) => chosen(columns[index].name) === undefined;
  let rest = space - widths.reduce((sum, width) => sum + width, 0);
  if (rest <= 0) return shrunk(widths, -rest, (index) => isFree(index) && stretches(columns[index]));
  // First to what would be cut off, and then to all text.
  const cut = columns.map((_, index) => (isFree(index) ? wanted[index] - widths[index] : 0));
  const missing = cut.reduce((sum, each) => sum + each, 0);
  const given = Math.min(1, missing === 0 ? 0 : rest / missing);
  cut.forEach((each, index) => (widths[index] += Math.floor(each * given)));
  rest = space - widths.reduce((sum, width) => sum + width, 0);
  const free = columns.map((_, index) => index).filter(isFree);
  const texts = free.filter((index) => stretches(columns[index]));
  const share = Math.min(rest / Math.max(1, texts.length), widestStretch);
  for (const index of texts) widths[index] += Math.floor(share);
  rest -= texts.length * share;
  for (const index of free) widths[index] += Math.floor(rest / free.length);
  return widths;
}

/** Takes what is too much from long texts, if that is enough to show all columns. */
function shrunk(widths, excess, isText) {
  const spare = widths.map((width, index) => (isText(index) ? Math.max(0, width - readable) : 0));
  const most = spare.reduce((sum, each) => sum + each, 0);
  return most < excess ? widths : widths.map((width, index) => width - Math.ceil((spare[index] * excess) / most));
}

/** The width of the ids. In most tables, the highest id is about the number of records. */
export function idWidth(records, total) {
  const digits = Math.max(String(total).length, ...records.map((record) => record.id.length));
  return Math.max(innerWidth < 480 ? 76 : 96, 62 + digits * 9);
}

// A row of the grid: the record's id and its fields, each shown according to its type.

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

// Printing a table: all its records, with the head on each page. The grid has only the rows that are seen.

const mostRecords = 20_000;

/** Prints the records that a view lists. Throws an Error if they are too many. */
export async function printTable({ api, list, grid, table }) {
  // Somebody may hide a column meanwhile.
  const { columns } = grid;
  if (list.total > mostRecords) throw new Error("At most 20,000 records can be printed. Filter them, or export them.");
  const body = element("tbody");
  await api.task("Printing", (task) => list.readPieces(0, list.total - 1, task, (records) =>
    body.append(...records.map((record) => printedLine(record, columns)))));
  const heads = [{ name: "id" }, ...columns].map((column) =>
    element("th", { scope: "col", textContent: column.title ?? column.name }));
  const node = element("table", { class: "printed" },
    element("caption", { dir: "auto", textContent: table.name }),
    element("thead", {}, element("tr", {}, ...heads)), body);
  document.body.append(node);
  addEventListener("afterprint", () => node.remove(), { once: true });
  print();
}

const printedLine = (record, columns) => element("tr", {}, element("td", { textContent: record.id }),
  ...columns.map(({ name }) => element("td", { textContent: lineOf(field(record, name)) })));
