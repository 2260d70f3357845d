// The dialogs for moving, pasting and sorting records, and the list of keys.

import { counted, element } from "./dom.js";
import { labelled, openDialog } from "./dialog.js";

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

/** Shows what will be pasted, and into which fields. Returns the text and its columns. */
export function askAboutPaste(text, columns, firstColumn, paste) {
  const lines = text.replace(/\r\n?/g, "\n").replace(/\n$/, "").split("\n").map((line) => line.split("\t"));
  const width = Math.max(...lines.map((line) => line.length));
  const hasHead = element("input", { type: "checkbox" });
  const names = columns.map(({ name }) => name);
  hasHead.checked = lines.length > 1 && lines[0].every((cell) => names.includes(cell.trim()));
  const targets = Array.from({ length: width }, (_, index) => element("input", {
    class: "input", value: names[firstColumn + index] ?? "", "aria-label": `Field of column ${index + 1}`,
  }));
  const heads = targets.map((each) => element("th", { scope: "col" }, each));
  const body = element("tbody");
  const show = () => {
    const shown = lines.slice(hasHead.checked ? 1 : 0);
    if (hasHead.checked) lines[0].forEach((cell, index) => (targets[index].value = cell.trim()));
    body.replaceChildren(...shown.slice(0, 5).map((line) =>
      element("tr", {}, ...targets.map((_, index) => element("td", { textContent: line[index] ?? "" })))));
  };
  hasHead.addEventListener("change", show);
  show();
  return openDialog({
    title: `Paste ${counted(lines.length, "line")}`,
    content: () => [
      element("p", { textContent: "Each line becomes a record. Choose the field for each column." }),
      element("label", { class: "check" }, hasHead, " The first line has the names of the fields"),
      element("div", { class: "scrolling", tabIndex: 0, role: "group", "aria-label": "The pasted lines" },
        element("table", { class: "comparison" }, element("thead", {}, element("tr", {}, ...heads)), body)),
    ],
    actions: [{
      label: "Paste",
      run: () => {
        const rest = lines.slice(hasHead.checked ? 1 : 0).map((line) => line.join("\t"));
        return paste(rest.join("\n"), targets.map((each) => each.value.trim()));
      },
    }],
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
  ["Escape", "Leave a field as it was"],
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
  ["Delete", "Delete"],
  ["Ctrl + C, Ctrl + V", "Copy; paste lines of a spreadsheet"],
  ["Ctrl + Z, Ctrl + Shift + Z", "Undo, redo"],
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
