// The menu of a column: its order, a filter by its values, its place, and what the table says about it.

import { counted, element, openMenu } from "./dom.js";
import { labelled, openDialog } from "./dialogs.js";
import { condition, rangeCondition } from "./filter-bar.js";
import { columnType, isCut, lineOf, parsed, storedDate, typeOf } from "./values.js";

/** Opens the menu of a column at its head. */
export function showColumnMenu(column, head, view) {
  const { actions, arrangement, isReadOnly, columns } = view;
  const { name } = column;
  const isSorted = view.sortKeys.length > 0;
  const rearrange = (change) => () => view.arrange(change);
  openMenu(head, column.title ?? name, [
    { label: "Sort ascending", shape: "up", run: () => view.sortAs([{ name, isDescending: false }]) },
    { label: "Sort descending", shape: "down", run: () => view.sortAs([{ name, isDescending: true }]) },
    ...(isSorted ? [{ label: "End the sorting", run: () => view.endSort() }] : []),
    { label: "Filter…", shape: "filter", run: () => askForFilter(column, view) },
    null,
    { label: "Move left", run: () => actions.moveColumn(placeOf(column, view), -1) },
    { label: "Move right", run: () => actions.moveColumn(placeOf(column, view), 1) },
    column.isPinned
      ? { label: "Let it scroll", run: rearrange(() => arrangement.pin(name, false)) }
      : { label: "Keep it at the left", run: rearrange(() => arrangement.pin(name, true)) },
    ...(arrangement.shown(columns).length > 1
      ? [{ label: "Hide", run: rearrange(() => arrangement.hide(name, true)) }] : []),
    ...(isReadOnly ? [] : [
      null,
      { label: "Rename…", run: () => askForName(column, view) },
      { label: "Type and rules…", run: () => askForColumn(column, view) },
      { label: "Add a column…", shape: "add", run: () => askForColumn({ name: "" }, view) },
      { label: "Delete the column…", shape: "trash", run: () => askAboutDrop(column, view) },
    ]),
  ]);
}

const placeOf = ({ name }, view) => view.grid.columns.findIndex((each) => each.name === name) + 1;

// Filters

const mostShown = 40;
const moreValues = "There are more values. Write the others into the filter.";
const noValues = "These values cannot be chosen here. Write a condition into the filter.";
const ranged = new Set(["integer", "float", "date"]);

/** Asks for values or a range, and writes the predicate into the filter. */
async function askForFilter(column, view) {
  const { values, complete } = await view.table.values(column.name).catch(() => ({ values: [], complete: true }));
  const isRanged = ranged.has(columnType(column.type));
  const simple = values.filter(
    ({ value }) => ["string", "integer", "float", "bool"].includes(typeOf(value)) && !isCut(value));
  if (isRanged) simple.sort((one, other) => Number(lineOf(one.value)) - Number(lineOf(other.value)));
  const boxes = simple.slice(0, mostShown).map(({ value, count }) => ({
    value, count, node: element("input", { type: "checkbox" }),
  }));
  const list = boxes.map(({ node, value, count }) => element("label", { class: "check" }, node,
    element("span", { class: "check-text", dir: "auto", textContent: lineOf(value) }),
    element("span", { class: "count", textContent: String(count) })));
  const [from, to] = ["From", "Up to"].map((label) => ({
    label, node: element("input", { class: "input", autocomplete: "off" }),
  }));
  const isAll = simple.length === values.length && simple.length <= mostShown && complete;
  const rest = isAll || column.type === "date"
    ? [] : [element("p", { class: "note", textContent: list.length > 0 ? moreValues : noValues })];
  const text = await openDialog({
    title: `Filter by ${column.title ?? column.name}`,
    content: () => [
      ...(isRanged ? [from, to].map(({ label, node }) => labelled(label, node)) : []),
      ...(list.length > 0 ? [element("fieldset", { class: "checks" },
        element("legend", { class: "note", textContent: "These values" }), ...list)] : []),
      ...rest],
    actions: [{
      label: "Filter",
      run: () => {
        const chosen = boxes.filter(({ node }) => node.checked).map(({ value }) => value);
        if (chosen.length > 0) return condition(column.name, chosen);
        const range = rangeCondition(column.name, lowest(from.node, column), highest(to.node, column));
        if (range === "") throw new Error("Choose a value, or write a range.");
        return range;
      },
    }],
  });
  if (text !== undefined) view.filter.narrow(text);
}

const lowest = (input, column) => {
  const value = bound(input, column);
  return value && `>= ${value}`;
};

/** A day without a time is in the range as a whole. */
const highest = (input, column) => {
  const value = bound(input, column);
  const day = column.type === "date" && /^(\d{4})-(\d\d)-(\d\d)$/.exec(input.value.trim());
  if (!day) return value && `<= ${value}`;
  const next = new Date(Date.UTC(Number(day[1]), Number(day[2]) - 1, Number(day[3]) + 1));
  return `< ${JSON.stringify(next.toISOString().slice(0, 10))}`;
};

/** What a range ends with, as the filter writes it; undefined if it is open. */
function bound({ value }, { type }) {
  const text = value.trim();
  if (text === "") return undefined;
  if (type !== "date") return lineOf(parsed(text, type));
  storedDate(text);  // Throws if it is no date.
  return JSON.stringify(text);
}

// The schema

function askForName({ name }, view) {
  const input = element("input", {
    class: "input", value: name, autocomplete: "off", dir: "auto", data: { first: "" },
  });
  return openDialog({
    title: `Rename ${name}`,
    content: () => [labelled("Name", input, "The field gets this name in all records and in the schema.")],
    actions: [{
      label: "Rename",
      run: async () => {
        const to = input.value.trim();
        if (to === "") throw new Error("A column needs a name.");
        await view.actions.editColumns(`Renamed ${name} to ${to}.`, (table) => table.renameColumn(name, to));
        view.arrange((arrangement) => arrangement.rename(name, to));
      },
    }],
  });
}

function askAboutDrop({ name }, view) {
  return openDialog({
    title: `Delete the column ${name}?`,
    content: () => [element("p", {
      textContent: `All ${counted(view.count, "record")} lose the field, and the schema loses its rules. `
        + "You can undo it.",
    })],
    actions: [{
      label: "Delete the column",
      run: () => view.actions.editColumns(`Deleted the column ${name}.`, (table) => table.dropColumn(name)),
    }],
  });
}

const types = [["", "any"], ["string", "text"], ["integer", "whole number"], ["float", "decimal number"],
  ["bool", "yes or no"], ["date", "date"], ["data", "data or picture"], ["json", "list or fields"]];

/** Asks for a column's type and rules. A column without a name is new. */
export function askForColumn(column, view) {
  const isNew = column.name === "";
  const known = isNew || column.declared ? column : { ...column, type: column.type ?? "" };
  const input = (value, more) => element("input", { class: "input", value: value ?? "", autocomplete: "off", ...more });
  const name = input(column.name, { dir: "auto" });
  const title = input(column.title, { dir: "auto" });
  const type = element("select", { class: "input" },
    ...types.map(([value, textContent]) => element("option", { value, textContent })));
  type.value = known.type ?? (isNew ? "string" : "");
  const [required, unique] = ["required", "unique"].map((rule) =>
    element("input", { type: "checkbox", checked: Boolean(column[rule]) }));
  const values = element("textarea", {
    class: "input text-input", rows: 3, dir: "auto", value: (column.values ?? []).map(lineOf).join("\n"),
  });
  const [minimum, maximum] = [input(lineOf(column.minimum ?? undefined)), input(lineOf(column.maximum ?? undefined))];
  const ends = element("div", { class: "pair" }, labelled("Smallest", minimum), labelled("Largest", maximum));
  const show = () => (ends.hidden = !ranged.has(type.value));
  type.addEventListener("change", show);
  show();
  (isNew ? name : type).dataset.first = "";
  return openDialog({
    title: isNew ? "New column" : `The column ${column.name}`,
    content: () => [
      ...(isNew ? [labelled("Name", name)] : []),
      labelled("Type", type,
        isNew ? undefined : "Values that are there are converted. If one cannot be, nothing changes."),
      labelled("Title", title, "A heading for people. The name stays."),
      element("label", { class: "check" }, required, " Every record needs it"),
      element("label", { class: "check" }, unique, " No two records have the same value"),
      labelled("Only these values", values, "One on each line. Leave it empty to allow any."),
      ends],
    actions: [{
      label: isNew ? "Add" : "Save",
      run: () => {
        const declared = {
          name: isNew ? name.value.trim() : column.name,
          title: title.value.trim() || null, type: type.value || null,
          required: required.checked, unique: unique.checked,
          values: allowed(values.value, type.value),
          minimum: end(minimum, type.value), maximum: end(maximum, type.value),
        };
        if (declared.name === "") throw new Error("A column needs a name.");
        const text = isNew ? `Added the column ${declared.name}.` : `Changed the column ${declared.name}.`;
        return view.actions.editColumns(text, (table) => table.declare(declared));
      },
    }],
  });
}

function allowed(text, type) {
  const lines = text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  return lines.length === 0 ? null : lines.map((line) => valueOf(line, type));
}

const end = (input, type) =>
  (input.value.trim() === "" || !ranged.has(type) ? null : valueOf(input.value.trim(), type));

const valueOf = (text, type) => (type === "date" ? { date: storedDate(text) } : parsed(text, type));
