// The buttons above the records, and the line below the records.

import { button, counted, element, grouped } from "./dom.js";
import { sortWords } from "./sort-keys.js";

/** `actions` are the actions on the table. */
export function toolbar(actions) {
  const changing = actions.isReadOnly ? [] : [
    button("Add record", { shape: "add", kind: "is-primary", onclick: () => actions.add() }),
    button("Duplicate", { shape: "duplicate", onclick: () => actions.duplicate() }),
    button("Move to…", { shape: "move", onclick: () => actions.moveTo() }),
    button("Delete", { shape: "trash", onclick: () => actions.remove() }),
  ];
  const menu = element(
    "div",
    { class: "menu", id: "copy-menu", popover: "auto" },
    ...[["selected", "json", "Selected records as JSON"], ["selected", "csv", "Selected records as CSV"],
      ["shown", "json", "All shown records as JSON"], ["shown", "csv", "All shown records as CSV"]].map(
      ([which, format, label]) => button(label, {
        kind: "is-quiet",
        onclick: () => {
          menu.hidePopover();
          actions.copy(which, format);
        },
      })));
  const copy = button("Copy", { shape: "copy", popovertarget: menu.id });
  menu.addEventListener("beforetoggle", () => {
    const { left, bottom } = copy.getBoundingClientRect();
    menu.style.left = `${Math.min(left, innerWidth - 260)}px`;
    menu.style.top = `${bottom + 4}px`;
  });
  return element(
    "div", { class: "toolbar", role: "toolbar", "aria-label": "Records" },
    ...changing, button("Open", { shape: "open", onclick: () => actions.open() }), copy, menu);
}

/** Shows the position, the selection and the sort order. */
export class StatusLine {
  node = element("div", { class: "status" });
  #place = element("span", { class: "status-place" });
  #selected = element("span", { class: "status-selected" });
  #sorted = element("span", { class: "status-sorted" });

  /** `actions`: `keepOrder()`, `endSort()`. */
  constructor(actions) {
    this.actions = actions;
    this.node.append(this.#place, this.#selected, this.#sorted);
  }

  showPlace(row, total) {
    const place = row < 0 || total === 0 ? counted(total, "record") : `Record ${grouped(row + 1)} of ${grouped(total)}`;
    this.#place.textContent = place;
  }

  showSelected(count) {
    this.#selected.textContent = count === 0 ? "" : `${grouped(count)} selected`;
  }

  showSort(keys, isReadOnly) {
    if (keys.length === 0) return this.#sorted.replaceChildren();
    const keep = button("Keep this order", { kind: "is-small", onclick: () => this.actions.keepOrder() });
    const end = button("End the sorting", { kind: "is-small is-quiet", onclick: () => this.actions.endSort() });
    this.#sorted.replaceChildren(`View sorted by ${sortWords(keys)}`, ...(isReadOnly ? [] : [keep]), end);
  }
}
