// Dialogs. They are the browser's own, which keep the focus inside and close with Escape.

import { button, counted, element, uniqueId } from "./dom.js";
import { field, lineOf, sameValue } from "./values.js";

/**
 * Shows a dialog and returns its result; undefined if it was cancelled.
 *
 * `content(close)` makes its elements. `actions` are its buttons: `{label, kind, run}`. `run` returns the result, or
 * throws an error, which is shown while the dialog stays open. `kind` is "" or "is-sheet".
 */
export function openDialog({ title, kind = "", content, actions = [], cancel = "Cancel" }) {
  return new Promise((resolve) => {
    const heading = element("h2", { id: uniqueId("dialog"), textContent: title });
    const problem = element("p", { class: "problem", role: "alert" });
    const dialog = element("dialog", { class: `dialog ${kind}`, "aria-labelledby": heading.id });
    let result;
    const close = (value) => {
      result = value;
      dialog.close();
    };
    const attempt = async (run) => {
      problem.textContent = "";
      try {
        close(await run());
      } catch (error) {
        problem.textContent = error.message;
      }
    };
    const [first] = actions;
    const form = element(
      "form",
      {
        onsubmit: (event) => {
          event.preventDefault();
          if (first) attempt(first.run);
        },
        onkeydown: submitFromField,
      },
      element("header", {}, heading,
        button("Close", { shape: "close", kind: "is-quiet is-icon", onclick: () => close() })),
      element("div", { class: "dialog-content" }, ...content(close)),
      problem,
      element("footer", {}, ...footer(actions, attempt, cancel, close)));
    dialog.append(form);
    if (kind === "is-sheet") keepTyped(dialog, problem);
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(result);
    });
    document.body.append(dialog);
    dialog.showModal();
    dialog.querySelector("[data-first]")?.focus();
  });
}

/** Escape does not discard what was typed, unless it is pressed twice. */
function keepTyped(dialog, problem) {
  let isKept = false;
  dialog.addEventListener("input", () => (isKept = true));
  dialog.addEventListener("cancel", (event) => {
    if (!isKept) return;
    isKept = false;
    event.preventDefault();
    problem.textContent = "Press Escape again to leave without your changes.";
  });
}

/** Enter presses the first button. In a list of choices it does so, too, and in a long text together with Ctrl. */
function submitFromField(event) {
  const { target, key, ctrlKey, metaKey, currentTarget } = event;
  if (key !== "Enter" || !(target.matches("select") || ctrlKey || metaKey)) return;
  event.preventDefault();
  currentTarget.requestSubmit();
}

function footer(actions, attempt, cancel, close) {
  const buttons = actions.map(({ label, kind = "", run }, index) =>
    index === 0
      ? button(label, { type: "submit", kind: kind || "is-primary" })
      : button(label, { kind, onclick: () => attempt(run) }));
  return [button(cancel, { kind: "is-quiet", onclick: () => close() }), ...buttons.reverse()];
}

/** A label and the field that it belongs to. */
export function labelled(label, control, hint) {
  control.id ||= uniqueId("field");
  return element(
    "div",
    { class: "field" },
    element("label", { for: control.id, textContent: label }),
    control,
    hint ? element("span", { class: "note", textContent: hint }) : null);
}

// The dialogs for moving, pasting and sorting records, and the list of keys.

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
    class: "input", value: names[firstColumn + index] ?? "", "aria-label": `Field of column ${index + 1}`, dir: "auto",
  }));
  const heads = targets.map((each) => element("th", { scope: "col" }, each));
  const body = element("tbody");
  const shown = () => rows.slice(hasHead.checked ? 1 : 0);
  const heading = (cell) => (cell === "id" && !names.includes("id") ? "" : (cell ?? "").trim());
  const show = () => {
    if (hasHead.checked) rows[0].forEach((cell, index) => (targets[index].value = heading(cell)));
    submit.textContent = counted(shown().length, "record");
    body.replaceChildren(...shown().slice(0, 5).map((row) =>
      element("tr", {}, ...targets.map((_, index) => element("td", { textContent: row[index] ?? "", dir: "auto" })))));
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

// Somebody else changed what a person is editing. This shows both versions and lets the person choose.

/** Returns "mine", "theirs", or "add" for a record that was deleted; undefined to continue editing. */
export function askAboutConflict({ id, changes, expected, current }) {
  return current ? askAboutChange({ id, changes, expected, current }) : askAboutDeletion(id);
}

function askAboutChange({ id, changes, expected, current }) {
  const rows = changes.map(([name, mine]) => {
    const before = expected.find(([each]) => each === name)?.[1] ?? null;
    const theirs = field(current, name) ?? null;
    return element(
      "tr", { class: sameValue(before, theirs) ? "" : "is-changed" },
      element("th", { scope: "row", textContent: name }), cell(before), cell(theirs), cell(mine));
  });
  const titles = ["Field", "Before", "Theirs", "Yours"];
  const heads = titles.map((textContent) => element("th", { scope: "col", textContent }));
  return openDialog({
    title: "Changed by somebody else",
    cancel: "Keep editing",
    content: () => [
      element("p", { textContent: `Somebody else changed record ${id} while you edited it. Which one should stay?` }),
      element("table", { class: "comparison" },
        element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows)),
    ],
    actions: [
      { label: "Keep mine", run: () => "mine" },
      { label: "Keep theirs", run: () => "theirs" },
    ],
  });
}

const cell = (value) => element("td", { textContent: value === null ? "no such field" : lineOf(value) });

function askAboutDeletion(id) {
  return openDialog({
    title: "Deleted by somebody else",
    cancel: "Keep editing",
    content: () => [
      element("p", { textContent: `Somebody else deleted record ${id} while you edited it.` }),
    ],
    actions: [
      { label: "Add it again with my change", run: () => "add" },
      { label: "Leave it deleted", run: () => "theirs" },
    ],
  });
}
