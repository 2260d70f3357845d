// The values of fields in the server's form. Text and Booleans are sent directly. Any other value is an object with one
// key, its type. Numbers stay text, so that no digit is lost.

import { counted } from "./dom.js";
import { localText } from "./dates.js";

export const types = ["string", "integer", "float", "bool", "date", "data", "array", "dictionary"];

/** The type of a value; undefined if there is no value. */
export function typeOf(value) {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "boolean") return "bool";
  if (typeof value === "string" || "text" in value) return "string";
  if ("bytes" in value) return "data";
  return Object.keys(value).find((key) => types.includes(key));
}

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
