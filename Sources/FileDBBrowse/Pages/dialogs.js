// The questions about records and columns: for moving, pasting and sorting records, the menu of a column, and its
// rules. And the list of keys.

import { counted, element, labelled, openDialog, openMenu } from "./dom.js";
import { askForFilter } from "./filter.js";
import { isRanged, lineOf, parsed, storedDate } from "./values.js";

/** Asks for a place. Returns it in the form of the server's routes. */
export function askForPlace(count, total) {
  const kind = select([["start", "To the top"], ["end", "To the bottom"], ["place", "To the place"],
    ["before", "Before the record"], ["after", "After the record"]]);
  const number = element("input", { class: "input", inputMode: "numeric", autocomplete: "off" });
  const numberField = labelled("Place", number);
  const show = () => {
    const isPlace = kind.value === "place";
    numberField.hidden = kind.value === "start" || kind.value === "end";
    numberField.firstChild.textContent = isPlace ? `Place, from 1 to ${total}` : "The record's id";
  };
  kind.addEventListener("change", show);
  kind.dataset.first = "";
  show();
  return openDialog({
    title: `Move ${counted(count, "record")}`,
    content: () => [labelled("Where", kind), numberField],
    actions: [{ label: "Move", run: () => place(kind.value, number.value.trim(), total) }],
  });
}

function place(kind, text, total) {
  if (kind === "start" || kind === "end") return { [kind]: true };
  if (!/^\d+$/.test(text)) throw new Error(kind === "place" ? "A place is a number." : "An id is a number.");
  if (kind !== "place") return { [kind]: text };
  if (Number(text) < 1 || Number(text) > total) throw new Error(`A place is a number from 1 to ${total}.`);
  return { place: Number(text) - 1 };
}

const select = (options) => element(
  "select", { class: "input" },
  ...options.map(([value, textContent]) => element("option", { value, textContent })));

/**
 * Shows what will be pasted, and into which fields. A column without a field is left out. `rows` has null for no value.
 * `paste(rows, names)` pastes them.
 */
export function askAboutPaste(rows, width, columns, firstColumn, paste) {
  const hasHead = element("input", { type: "checkbox" });
  const names = columns.map(({ name }) => name);
  hasHead.checked = rows.length > 1 && rows[0].every((cell) => names.includes(cell?.trim()) || cell === "id");
  const targets = Array.from({ length: width }, (_, index) => element("input", {
    class: "input", value: names[firstColumn + index] ?? "", "aria-label": `Field of column ${index + 1}`,
  }));
  const heads = targets.map((each) => element("th", { scope: "col" }, each));
  const body = element("tbody");
  const shown = () => rows.slice(hasHead.checked ? 1 : 0);
  const heading = (cell) => (cell === "id" && !names.includes("id") ? "" : (cell ?? "").trim());
  const show = () => {
    if (hasHead.checked) rows[0].forEach((cell, index) => (targets[index].value = heading(cell)));
    submit.textContent = counted(shown().length, "record");
    body.replaceChildren(...shown().slice(0, 5).map((row) =>
      element("tr", {}, ...targets.map((_, index) => element("td", { textContent: row[index] ?? "" })))));
  };
  const submit = element("span");
  hasHead.addEventListener("change", show);
  show();
  return openDialog({
    title: "Paste records",
    content: () => [
      element("p", {}, submit, " in the clipboard. Choose the field for each column."),
      element("label", { class: "check" }, hasHead, " The first row has the names of the fields"),
      element("div", { class: "scrolling", tabIndex: 0, role: "group", "aria-label": "The pasted rows" },
        element("table", { class: "comparison" }, element("thead", {}, element("tr", {}, ...heads)), body)),
    ],
    actions: [{
      label: "Paste",
      run: () => {
        const used = targets.map((each, index) => [each.value.trim(), index]).filter(([name]) => name !== "");
        if (used.length === 0) throw new Error("Choose a field for at least one column.");
        const lines = shown().map((row) => used.map(([, index]) => row[index] ?? null));
        return paste(lines, used.map(([name]) => name));
      },
    }],
  });
}

/** Asks whether records that a filter hides shall be sorted, too. */
export function askAboutOrder(count, hidden, words) {
  return openDialog({
    title: "Sort the whole table?",
    content: () => [element("p", {
      textContent: `${counted(hidden, "record")} that you do not see now will get the order of ${words}, too.`,
    })],
    actions: [{ label: `Sort all ${counted(count, "record")}`, run: () => true }],
  });
}

/** Asks for the name of a new table. */
export function askForTable(create) {
  const name = element("input", { class: "input", autocomplete: "off", data: { first: "" } });
  return openDialog({
    title: "New table",
    content: () => [labelled("Name", name, "The table becomes a file with this name in the store's folder.")],
    actions: [{
      label: "Create",
      run: async () => {
        if (name.value.trim() === "") throw new Error("A table needs a name.");
        await create(name.value.trim());
        return name.value.trim();
      },
    }],
  });
}

const keys = [
  ["Arrow keys, Page Up, Page Down", "Go from field to field"],
  ["Home, End", "The first and the last field of a record"],
  ["Ctrl + Home, Ctrl + End", "The first and the last record"],
  ["Enter or F2, or just type", "Edit the field"],
  ["Escape", "Leave a field as it was; give up a value that was refused"],
  ["Tab", "While you edit: keep it and go to the next field"],
  ["Alt + Enter", "While you edit text: a new line"],
  ["Shift + Enter", "Open the whole record"],
  ["Shift + Left, Shift + Right", "On a column's name: make it narrower or wider"],
  ["Space", "Select the record"],
  ["Shift + Arrow keys, Ctrl + A", "Select more records, or all"],
  ["Alt + Up, Alt + Down", "Move the record"],
  ["Alt + M", "Move it to a place you choose"],
  ["Insert or Ctrl + Enter", "Add a record"],
  ["Ctrl + D", "Duplicate"],
  ["Delete", "Empty the field; on the id, delete the record"],
  ["Alt + Down", "On a column's name: its menu"],
  ["Alt + Left, Alt + Right", "On a column's name: move the column"],
  ["Ctrl + C, Ctrl + V", "Copy; paste rows of a spreadsheet"],
  ["Ctrl + Z, Ctrl + Shift + Z", "Undo, redo what this tab did"],
  ["Ctrl + P", "Print all records that are listed"],
];

export function showKeys() {
  const rows = keys.map(([key, meaning]) =>
    element("tr", {}, element("th", { scope: "row", textContent: key }), element("td", { textContent: meaning })));
  return openDialog({
    title: "Keys",
    cancel: "Close",
    content: () => [
      element("p", { textContent: "On a Mac, Command does what Ctrl does here." }),
      element("table", { class: "keys" }, element("tbody", {}, ...rows)),
    ],
  });
}

// The menu of a column: its order, a filter by its values, its place, and what the table says about it.

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

// The schema

function askForName({ name }, view) {
  const input = element("input", {
    class: "input", value: name, autocomplete: "off", data: { first: "" },
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

const deletions = [["restrict", "it cannot be deleted"], ["cascade", "this record is deleted, too"],
  ["clear", "this field is emptied"]];

/** Asks for a column's type and rules. A column without a name is new. */
export async function askForColumn(column, view) {
  const tables = await view.api.store().then((store) => store.tables, (error) => view.notices.fail(error));
  if (!tables) return undefined;
  const isNew = column.name === "";
  const input = (value) => element("input", { class: "input", value: value ?? "", autocomplete: "off" });
  const [name, title] = [input(column.name), input(column.title)];
  const type = select(types);
  const seenType = column.type ?? (isNew ? "string" : "");
  type.value = column.declared ? column.declaredType ?? "" : seenType;
  const typeBefore = type.value;
  const [required, unique] = ["required", "unique"].map((rule) =>
    element("input", { type: "checkbox", checked: Boolean(column[rule]) }));
  const values = element("textarea", {
    class: "input text-input", rows: 3, value: (column.values ?? []).map(lineOf).join("\n"),
  });
  const [minimum, maximum, standard] = ["minimum", "maximum", "standard"].map((rule) => input(lineOf(column[rule])));
  const ends = element("div", { class: "pair" }, labelled("Smallest", minimum), labelled("Largest", maximum));
  const pattern = input(column.pattern);
  const patternField = labelled("Pattern", pattern, "A regular expression for the whole text, such as: [A-Z]{2}[0-9]+");
  const standardField = labelled("Default", standard, "What a new record gets if it has nothing here.");
  const targets = new Set([...tables.map((table) => table.name), column.references?.table ?? ""]);
  const target = select([["", "no table"], ...[...targets].filter(Boolean).map((each) => [each, each])]);
  const [targetField, deletion] = [input(column.references?.field ?? "id"), select(deletions)];
  target.value = column.references?.table ?? "";
  deletion.value = column.references?.onDelete ?? "restrict";
  const reference = element("div", { class: "pair" },
    labelled("By its id, or a unique field", targetField), labelled("If that record is deleted", deletion));
  const lost = element("p", { class: "note", role: "status" });
  // An input shows some rules differently, such as a text with several lines. Without a change, they stay as they are.
  const initial = new Map([title, values, minimum, maximum, pattern, standard].map((each) => [each, each.value]));
  const isUntouched = (control) => control.value === initial.get(control);
  const isSameType = () => type.value === typeBefore;
  const ruleOf = (control, rule, read) => {
    if (isUntouched(control) && isSameType()) return column[rule] ?? null;
    const text = isUntouched(control) ? lineOf(column[rule]) : control.value;
    return text === "" ? null : read(text, type.value);
  };
  const show = () => {
    ends.hidden = !isRanged(type.value);
    patternField.hidden = !["string", ""].includes(type.value);
    standardField.hidden = ["data", "json"].includes(type.value);
    reference.hidden = target.value === "";
    const unfit = [["minimum", ends, "smallest value"], ["maximum", ends, "largest value"],
      ["pattern", patternField, "pattern"], ["standard", standardField, "default"]].filter(
      ([rule, { hidden }]) => hidden && lineOf(column[rule]) !== "").map(([, , words]) => words);
    lost.hidden = unfit.length === 0 || isSameType();
    lost.textContent = `With this type, the column loses its ${unfit.join(", ")}.`;
  };
  for (const each of [type, target]) each.addEventListener("change", show);
  show();
  (isNew ? name : type).dataset.first = "";
  return openDialog({
    title: isNew ? "New column" : `The column ${column.name}`,
    content: () => [
      ...(isNew ? [labelled("Name", name)] : []),
      labelled("Type", type,
        isNew ? undefined : "Values that are there are converted. If one cannot be, nothing changes."),
      lost,
      labelled("Title", title, "A heading for people. The name stays."),
      element("label", { class: "check" }, required, " Every record needs it"),
      element("label", { class: "check" }, unique, " No two records have the same value"),
      labelled("Only these values", values, "One on each line. Leave it empty to allow any."),
      ends, patternField, standardField, labelled("Refers to a record of", target), reference],
    actions: [{
      label: isNew ? "Add" : "Save",
      run: () => {
        const declared = {
          name: isNew ? name.value.trim() : column.name,
          title: ruleOf(title, "title", (text) => text.trim() || null), type: type.value || null,
          required: required.checked, unique: unique.checked,
          values: isUntouched(values) && isSameType()
            ? column.values ?? null : allowed(values.value, type.value, isSameType() ? column.values ?? [] : []),
          minimum: ruleOf(minimum, "minimum", end), maximum: ruleOf(maximum, "maximum", end),
          pattern: ruleOf(pattern, "pattern", (text) => (patternField.hidden ? null : text)),
          standard: ruleOf(standard, "standard", (text) => (standardField.hidden ? null : valueOf(text, type.value))),
          references: reference.hidden
            ? null : { table: target.value, field: targetField.value.trim() || "id", onDelete: deletion.value },
        };
        if (declared.name === "") throw new Error("A column needs a name.");
        const text = isNew ? `Added the column ${declared.name}.` : `Changed the column ${declared.name}.`;
        return view.actions.editColumns(text, (table) => table.declare(declared));
      },
    }],
  });
}

/** The allowed values, one on each line. Those that were `known` before stay, also if they are no text. */
function allowed(text, type, known) {
  const lines = text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  if (lines.length === 0) return null;
  return lines.map((line) => known.find((value) => lineOf(value).trim() === line) ?? valueOf(line, type));
}

const end = (text, type) => (text.trim() === "" || !isRanged(type) ? null : valueOf(text.trim(), type));

const valueOf = (text, type) => (type === "date" ? { date: storedDate(text) } : parsed(text, type));
