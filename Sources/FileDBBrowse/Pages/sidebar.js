// The list of the store's tables.

import { button, element, grouped, icon } from "./dom.js";

export class Sidebar {
  #list = element("ul", { class: "tables" });
  #path = element("bdi");
  #onNew;
  #shown;

  constructor({ onNew }) {
    this.#onNew = onNew;
    this.newButton = button("New table", { shape: "add", kind: "is-quiet", onclick: () => this.#onNew() });
    this.node = element(
      "nav",
      { class: "sidebar", id: "sidebar", "aria-label": "Tables" },
      element("div", { class: "brand" }, icon("table"), element("span", { textContent: "FileDB" })),
      element("p", { class: "store-path" }, this.#path), this.#list, this.newButton);
    for (const kind of ["click", "auxclick"]) this.#list.addEventListener(kind, openInTab);
  }

  show({ path, tables, readOnly }, current) {
    const shown = JSON.stringify([path, tables, readOnly, current]);
    // Keep the link: a new one would lose the focus, or a click.
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#path.textContent = path;
    this.#path.title = path;
    this.newButton.hidden = readOnly;
    this.#list.replaceChildren(...tables.map((table) => tableLink(table, table.name === current)));
  }
}

function tableLink({ name, count, problem, attached, reading }, isCurrent) {
  const link = element(
    "a",
    { href: `#/${encodeURIComponent(name)}`, title: problem ?? name, "aria-current": isCurrent ? "page" : undefined },
    element("span", { class: "table-name", textContent: name }));
  if (attached) link.append(element("span", { class: "badge", textContent: "attached" }));
  if (problem) link.append(icon("warning"), element("span", { class: "unseen", textContent: "cannot be read" }));
  else if (reading !== undefined) link.append(element("span", { class: "count", textContent: "reading…" }));
  else link.append(element("span", { class: "count", textContent: grouped(count) }));
  return element("li", {}, link);
}

/** A tab that the browser opens for a link gets no token. One that this page opens does. */
function openInTab(event) {
  const link = event.target.closest("a");
  if (!link || !(event.button === 1 || event.ctrlKey || event.metaKey || event.shiftKey)) return;
  event.preventDefault();
  window.open(link.href);
}
