// The values of fields in the server's form. Text and Booleans are sent directly. Any other value is an object with one
// key, its type. Numbers stay text, so that no digit is lost.

import { counted, element } from "./dom.js";

export const types = ["string", "integer", "float", "bool", "date", "data", "array", "dictionary"];

/** The type of a value; undefined if there is no value. */
export function typeOf(value) {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "boolean") return "bool";
  if (typeof value === "string" || "text" in value) return "string";
  if ("bytes" in value) return "data";
  return Object.keys(value).find((key) => types.includes(key));
}

/** Whether the values of a type have an order, so that a range can be named. */
export const isRanged = (type) => ["integer", "float", "date"].includes(columnType(type));

/** The type of a column's values. A column of arrays and dictionaries is declared as json. */
export const columnType = (type) => (type === "json" ? "dictionary" : type);

/** A list shows only the beginning of long values. To edit one, read it completely. */
export function isCut(value) {
  if (typeof value !== "object" || value === null) return false;
  return "text" in value || "bytes" in value || value.array === null || value.dictionary === null;
}

/** The initial content of a new value of a type. */
export function emptyValue(type) {
  const now = new Date().toISOString().replace(/\.\d+/, "");
  const empty = { string: "", integer: { integer: "0" }, float: { float: "0" }, bool: false, date: { date: now } };
  return { ...empty, data: { data: "" }, array: { array: [] }, dictionary: { dictionary: [] } }[type];
}

/** The value as one line of text, for a cell. */
export function lineOf(value) {
  switch (typeOf(value)) {
    case undefined: return "";
    case "string": return (value.text ?? value) + ("text" in Object(value) ? "…" : "");
    case "integer": return value.integer;
    case "float": return value.float;
    case "bool": return value ? "yes" : "no";
    case "date": return localText(value.date);
    case "data": return sizeText(byteCount(value));
    case "array": return value.array === null ? counted(value.count, "item") : itemsLine(value.array);
    case "dictionary": return value.dictionary === null ? counted(value.count, "field") : fieldsLine(value.dictionary);
  }
}

const itemsLine = (items) => `[${items.map(lineOf).join(", ")}]`;
const fieldsLine = (fields) => fields.map(([name, value]) => `${name}: ${lineOf(value)}`).join(", ");

/** The number of digits after the point; 0 for other values, and for those with an exponent. */
export const fractionDigits = (value) => value?.float?.match(/^-?\d+\.(\d+)$/)?.[1].length ?? 0;

/** The value as text that means the same elsewhere: a date says its time zone. */
export const copiedText = (value) =>
  typeOf(value) === "date" ? `${localText(value.date)}${offsetText(value.date)}` : lineOf(value);

/** The value as it is in its file, if a cell shows it differently. */
export function storedText(value) {
  switch (typeOf(value)) {
    case "date": return value.date;
    case "string": return value.text ?? value;
    default: return lineOf(value);
  }
}

export const byteCount = (value) => value.bytes ?? (value.data.length * 3) / 4 - (value.data.match(/=*$/)[0].length);

export function sizeText(bytes) {
  if (bytes < 1000) return counted(bytes, "byte");
  const units = ["kB", "MB", "GB"];
  const power = Math.min(units.length, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** power).toPrecision(3)} ${units[power - 1]}`;
}

/** Values are equal if the server writes them in the same way. */
export const sameValue = (one, other) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

export const field = (record, name) => record.fields.find(([each]) => each === name)?.[1];

/** The value of a typed text. Throws an Error that says what is wrong with the text. */
export function parsed(text, type) {
  switch (type) {
    case "integer": return { integer: parsedInteger(text.trim()) };
    case "float": return { float: parsedReal(text.trim()) };
    case "bool": return parsedBoolean(text.trim().toLowerCase());
    default: return text;
  }
}

const leastInteger = -(2n ** 63n);
const greatestInteger = 2n ** 64n - 1n;

function parsedInteger(text) {
  if (!/^[+-]?\d+$/.test(text)) throw new Error("This is not a whole number.");
  const number = BigInt(text.replace("+", ""));
  if (number < leastInteger || number > greatestInteger) {
    throw new Error(`A whole number is between ${leastInteger} and ${greatestInteger}.`);
  }
  return String(number);
}

function parsedReal(text) {
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) || /^(nan|[+-]?inf(inity)?)$/i.test(text)) return text;
  throw new Error("This is not a number.");
}

function parsedBoolean(word) {
  if (["yes", "true"].includes(word)) return true;
  if (["no", "false"].includes(word)) return false;
  throw new Error("Write yes or no.");
}

// Dates are stored as whole seconds in UTC and shown in the reader's time zone.

export const zoneName = Intl.DateTimeFormat().resolvedOptions().timeZone;

const two = (number) => String(number).padStart(2, "0");

/** 2010-03-04 06:06:07 in the reader's time zone. A date that the browser cannot read is shown as it is stored. */
export function localText(stored) {
  const date = new Date(stored);
  if (Number.isNaN(date.getTime())) return stored;
  const day = [String(date.getFullYear()).padStart(4, "0"), two(date.getMonth() + 1), two(date.getDate())].join("-");
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** The offset of the reader's time zone from UTC at a date: +01:00. */
export function offsetText(stored) {
  const minutes = -new Date(stored).getTimezoneOffset();
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

const form = /^(\d{4})-(\d\d?)-(\d\d?)(?:[ T](\d\d?):(\d\d)(?::(\d\d))?)? ?(Z|UTC|[+-]\d\d:?\d\d)?$/i;

/**
 * The stored form of a typed date: a day, or a day and a time. It is in the reader's time zone, unless Z or an offset
 * follows. Throws an Error that says what is wrong.
 */
export function storedDate(text) {
  const match = form.exec(text.trim());
  if (!match) throw new Error("Write a date as 2026-11-30, or with a time as 2026-11-30 18:45:00.");
  const [, year, month, day, hour = "0", minute = "0", second = "0", zone] = match;
  const parts = [year, month - 1, day, hour, minute, second].map(Number);
  const asWritten = new Date(0);
  asWritten.setUTCFullYear(...parts.slice(0, 3));
  asWritten.setUTCHours(...parts.slice(3));
  if (asWritten.getUTCDate() !== parts[2] || asWritten.getUTCMinutes() !== parts[4] || parts[3] > 23) {
    throw new Error("The calendar has no such date.");
  }
  const date = zone ? new Date(asWritten.getTime() - zoneMinutes(zone) * 60_000) : inReadersZone(parts);
  return date.toISOString().replace(/\.\d+Z$/, "Z");
}

function inReadersZone(parts) {
  const date = new Date(2000, 0, 1);
  date.setFullYear(...parts.slice(0, 3));
  date.setHours(...parts.slice(3), 0);
  return date;
}

function zoneMinutes(zone) {
  const match = /([+-])(\d\d):?(\d\d)/.exec(zone);
  if (!match) return 0;
  return (match[1] === "-" ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3]));
}

// The keys of a sorted list, `{name, isDescending}`. The first key counts most.

/** The keys in the form for the server. */
export const sortText = (keys) =>
  keys.map(({ name, isDescending }) => (isDescending ? "-" : "") + name.replace(/[\\,]/g, "\\$&")).join(",");

/** The keys in words. */
export const sortWords = (keys) =>
  keys.map(({ name, isDescending }) => name + (isDescending ? ", descending" : "")).join("; then ");

/**
 * The keys after a person chose a name: first ascending, then descending, then not at all. `mode` is `only`, or `add`,
 * which keeps the others.
 */
export function turned(keys, name, mode) {
  const current = keys.find((key) => key.name === name);
  const others = mode === "add" ? keys.filter((key) => key.name !== name) : [];
  return current?.isDescending ? others : [...others, { name, isDescending: current !== undefined }];
}

// The rows of a spreadsheet, as they are pasted and copied.

/** The lines, with dates that name no time zone in the reader's, in the columns of dates. */
export function withLocalDates(lines, names, columns) {
  const local = lines.map((line) => line.map(localDate));
  const isOfDates = names.map((name, index) => {
    const column = columns.find((each) => each.name === name);
    if (column) return column.type === "date";
    return lines.every((line, row) => !line[index] || local[row][index] !== undefined);
  });
  return lines.map((line, row) => line.map((cell, index) => (isOfDates[index] && local[row][index]) || cell));
}

function localDate(cell) {
  try {
    return cell === null ? undefined : storedDate(cell);
  } catch {
    return undefined;
  }
}

/** The first table of HTML, as text with tabs; undefined if there is none. */
export function tableText(html) {
  const table = html ? new DOMParser().parseFromString(html, "text/html").querySelector("table") : null;
  if (!table || table.rows.length === 0) return undefined;
  for (const end of table.querySelectorAll("br")) end.replaceWith("\n");
  const text = (cell) => (cell.textContent === "" ? "" : quoted(cell.textContent.trim()));
  return [...table.rows].map((row) => [...row.cells].map(text).join("\t")).join("\n");
}

const quoted = (text) => `"${text.replaceAll('"', '""')}"`;

/** A text as one cell. Without quotes, its lines would be pasted as several. */
export const cellText = (text) => (/[\t\n\r]|^"/.test(text) ? quoted(text) : text);

/** The text that `cellText` has quoted; undefined for any other text. */
export function textOfCell(pasted) {
  if (!/^"[^"]*(?:""[^"]*)*"\r?\n?$/.test(pasted)) return undefined;
  const text = pasted.trim().slice(1, -1).replaceAll('""', '"');
  // Somebody may have written quotes around a text that needs none.
  return cellText(text) === pasted.trim() ? text : undefined;
}

export function tableHTML({ rows }) {
  const lines = rows.map((row) => element("tr", {}, ...row.map((cell) => element("td", { textContent: cell ?? "" }))));
  return element("table", {}, element("tbody", {}, ...lines)).outerHTML;
}
