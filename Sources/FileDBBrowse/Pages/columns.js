// Which columns a table shows, in which order and how wide. People arrange them; the store knows nothing of it.

import { columnType, field, fractionDigits, lineOf, typeOf } from "./values.js";

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

/** The columns as they are before anybody arranges them: those of the schema, or else the name first. */
function initial(columns) {
  const first = columns.some(({ declared }) => declared) ? undefined : nameColumn(columns);
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

  isPinned(name) {
    return this.#pinned.has(name);
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
