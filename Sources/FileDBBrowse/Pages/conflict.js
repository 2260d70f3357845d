// Somebody else changed what a person is editing. This shows both versions and lets the person choose.

import { element } from "./dom.js";
import { openDialog } from "./dialog.js";
import { field, lineOf, sameValue } from "./values.js";

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
