// Editors for values. Each is an object with `node`, `focus()` and `value()`. `value()` throws an Error that says what
// is wrong with the input, or returns null if there is no value. Some also have `type(text)`, which replaces the
// content.

import { element, uniqueId } from "./dom.js";
import { localText, offsetText, storedDate, zoneName } from "./dates.js";
import { dataEditor } from "./editor-data.js";
import { treeEditor } from "./editor-tree.js";
import { columnType, field, lineOf, parsed, sameValue, typeOf } from "./values.js";

/**
 * The editor for a value of a type. `context`: `label`, `column` (if the value is a whole field), `api` (for
 * references).
 */
export function editorFor(value, type, context) {
  const column = context.column ?? {};
  if (column.values) return choiceEditor(value, column.values, context);
  if (column.references) return referenceEditor(value, type, context);
  switch (type) {
    case "bool": return choiceEditor(value, [true, false], context);
    case "integer":
    case "float": return numberEditor(value, type, context);
    case "date": return dateEditor(value, context);
    case "data": return dataEditor(value, context);
    case "array":
    case "dictionary": return treeEditor(value, type, context);
    default: return textEditor(value, context);
  }
}

/** The type in which a field is edited: that of its value, or else that of its column. */
export const editedType = (value, column) => typeOf(value) ?? columnType(column?.type) ?? "string";

function textEditor(value, { label }) {
  // If the style sheet cannot fit the field to its text, it gets about as many rows.
  const rows = Math.min(8, 1 + Math.floor((value ?? "").length / 60));
  const node = element("textarea", { class: "input text-input", rows, value: value ?? "", "aria-label": label });
  return {
    node,
    focus: () => node.focus(),
    type: (text) => (node.value = text),
    value: () => (node.value === "" && value === undefined ? null : node.value),
  };
}

function numberEditor(value, type, { label }) {
  const node = element("input", {
    class: "input is-number", value: value === undefined ? "" : lineOf(value), "aria-label": label,
    inputMode: type === "integer" ? "numeric" : "decimal", autocomplete: "off",
  });
  return {
    node,
    focus: () => node.select(),
    type: (text) => (node.value = text),
    value: () => (node.value.trim() === "" ? null : parsed(node.value, type)),
  };
}

function dateEditor(value, { label }) {
  const id = uniqueId("date");
  const input = element("input", {
    class: "input", value: value ? localText(value.date) : "", placeholder: "2026-11-30 18:45:00",
    "aria-label": label, "aria-describedby": id, autocomplete: "off",
  });
  const note = element("span", { class: "note", id });
  const read = () => (value && input.value === localText(value.date) ? value.date : storedDate(input.value));
  const explain = () => {
    try {
      const stored = read();
      note.textContent = `${zoneName} (${offsetText(stored)}). Stored as ${stored}`;
    } catch (error) {
      note.textContent = input.value === "" ? `In the time zone ${zoneName}.` : error.message;
    }
  };
  input.addEventListener("input", explain);
  explain();
  return {
    node: element("div", { class: "date-editor" }, input, note),
    focus: () => input.select(),
    type: (text) => {
      input.value = text;
      explain();
    },
    value: () => (input.value.trim() === "" ? null : { date: read() }),
  };
}

/** A choice of several values. Unless the field is required, it may be empty. */
function choiceEditor(value, values, { label, column }) {
  const known = value === undefined || values.some((each) => sameValue(each, value)) ? values : [value, ...values];
  const options = known.map((each, index) => element("option", { value: String(index), textContent: lineOf(each) }));
  if (!column?.required || value === undefined) options.unshift(element("option", { value: "", textContent: "–" }));
  const node = element("select", { class: "input", "aria-label": label }, ...options);
  const current = known.findIndex((each) => sameValue(each, value));
  node.value = current < 0 ? "" : String(current);
  return {
    node,
    focus: () => node.focus(),
    value: () => (node.value === "" ? null : known[Number(node.value)]),
  };
}

/** A reference to a record of another table, by the value of the field. It suggests values that fit. */
function referenceEditor(value, type, { label, column, api }) {
  const { table, field: name } = column.references;
  const list = element("datalist", { id: uniqueId("records") });
  const input = element("input", {
    class: "input", value: value === undefined ? "" : lineOf(value), list: list.id, "aria-label": label,
    autocomplete: "off",
  });
  const suggest = async (search) => {
    const { records } = await api.table(table).records({ search }, 0, 20).catch(() => ({ records: [] }));
    list.replaceChildren(...records.map((record) => suggestion(record, name)));
  };
  input.addEventListener("input", () => suggest(input.value));
  suggest("");
  const note = element("span", { class: "note", textContent: `From the table ${table}, by ${name}.` });
  return {
    node: element("div", {}, input, list, note),
    focus: () => input.select(),
    type: (text) => {
      input.value = text;
      suggest(text);
    },
    value: () => (input.value.trim() === "" ? null : parsed(input.value, name === "id" ? "integer" : type)),
  };
}

function suggestion(record, name) {
  const key = name === "id" ? record.id : lineOf(field(record, name));
  const text = record.fields.map(([, value]) => value).find((value) => typeOf(value) === "string");
  return element("option", { value: key, label: text === undefined ? key : lineOf(text) });
}
