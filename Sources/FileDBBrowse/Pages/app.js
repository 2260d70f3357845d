// The whole page: the tables at the left, the table that is shown, undo and redo, and the connection.

import { button, counted, element } from "./dom.js";
import { tableInAddress } from "./early.js";
import { Notices } from "./notices.js";
import { Sidebar } from "./sidebar.js";
import { askForTable, showKeys } from "./table-dialogs.js";
import { TableView } from "./table-view.js";

const down =
  "The server does not answer. Is “filedb browse” still running? This page continues as soon as it answers.";
const refused = "The server was restarted. Go on in the tab that it opened, or open the address that it printed here.";

export class App {
  #root;
  #api;
  #store = null;
  #view = null;
  #current = null;
  #notices = new Notices();
  #sidebar = new Sidebar({ onNew: () => this.#createTable() });
  #title = element("h1", { class: "title" });
  #count = element("span", { class: "count" });
  #main = element("main", { class: "main", tabIndex: -1, onclick: () => this.#closeMenu() });

  constructor(root, api) {
    this.#root = root;
    this.#api = api;
    this.undoButton = button("Undo", { shape: "undo", kind: "is-quiet", onclick: () => this.undo() });
    this.redoButton = button("Redo", { shape: "redo", kind: "is-quiet", onclick: () => this.redo() });
    this.menuButton = button("Tables", {
      shape: "menu", kind: "is-quiet is-icon menu-button", "aria-expanded": "false", "aria-controls": "sidebar",
      onclick: () => this.#toggleMenu(),
    });
    this.badge = element("span", { class: "badge", textContent: "read only", hidden: true });
  }

  /** Shows the page that the address names. Resolves when it is shown. */
  async start() {
    this.#root.replaceChildren(
      this.#notices.banner, this.#sidebar.node,
      element("div", { class: "page" },
        element("header", { class: "header" }, this.menuButton, this.#title, this.#count, this.badge,
          element("div", { class: "header-tools" }, this.undoButton, this.redoButton,
            button("Keys", { shape: "keyboard", kind: "is-quiet is-icon", onclick: showKeys }))),
        this.#main),
      this.#notices.node);
    addEventListener("hashchange", () => this.#route());
    addEventListener("keydown", (event) => this.#key(event));
    await this.#readStore();
    await this.#route();
  }

  /** Handles an event of the server, see EventStream. */
  async receive(event) {
    switch (event.kind) {
      case "down":
        this.#notices.showBanner(event.refused ? refused : down);
        break;
      case "up":
        this.#notices.hideBanner();
        await this.#readStore();
        this.#route();
        this.#view?.refresh();
        break;
      case "tables":
        this.#showStore({ ...this.#store, ...event.data });
        this.#route();
        break;
      case "change":
        if (event.data.table === this.#current) this.#view?.receive(event.data);
        break;
    }
  }

  async #readStore() {
    try {
      this.#showStore(await this.#api.store());
    } catch (error) {
      if (error.status === 403) this.#notices.showBanner(refused);
      else this.#notices.fail(error);
    }
  }

  #showStore(store) {
    const before = this.#store?.tables.find(({ name }) => name === this.#current);
    const now = store.tables.find(({ name }) => name === this.#current);
    // A table that broke, was repaired or was read is shown again from the beginning.
    if (isShownInstead(before) !== isShownInstead(now)) this.#view = null;
    this.#store = store;
    this.#sidebar.show(store, this.#current);
    this.badge.hidden = !store.readOnly;
    showStep(this.undoButton, "Undo", store.undo);
    showStep(this.redoButton, "Redo", store.redo);
    this.undoButton.hidden = this.redoButton.hidden = store.readOnly;
  }

  async #route() {
    if (!this.#store) return;
    const { tables } = this.#store;
    if (tableInAddress() === "" && tables.length > 0) {
      history.replaceState(null, "", `#/${encodeURIComponent(tables[0].name)}`);
    }
    const asked = tableInAddress();
    const table = tables.find(({ name }) => name === asked);
    if (table && asked === this.#current && this.#view) return;
    this.#closeMenu();
    this.#current = asked;
    this.#title.textContent = table ? asked : "";
    this.#count.textContent = "";
    document.title = table ? `${asked} – FileDB` : "FileDB";
    this.#sidebar.show(this.#store, asked);
    if (table) await this.#openTable(table);
    else this.#showNoTable(asked);
  }

  #openTable({ name, attached }) {
    const view = new TableView(name, {
      api: this.#api, notices: this.#notices, isReadOnly: this.#store.readOnly || attached,
      undo: () => this.undo(),
      onCount: (count) => this.#showCount(view, count),
      onRepaired: (report) => this.#reopen(report),
    });
    this.#view = view;
    this.#main.replaceChildren(view.node);
    return view.load();
  }

  /** A table that is no longer shown may still be loading. */
  #showCount(view, count) {
    if (view === this.#view) this.#count.textContent = counted(count, "record");
  }

  async #reopen(report) {
    this.#view = null;
    await this.#readStore();
    this.#route();
    const kept = report.split("\n").filter((line) => line.includes(" is kept as "));
    this.#notices.say(["The table is repaired. This cannot be undone.", ...kept].join(" "));
  }

  #showNoTable(asked) {
    this.#view = null;
    const isEmpty = this.#store.tables.length === 0;
    const [title, text] = isEmpty
      ? ["No tables yet", "Create a table here, or import one in a terminal: filedb import foods.csv food --header"]
      : [`There is no table ${asked}`, "Choose one of the tables of this store."];
    this.#main.replaceChildren(element(
      "div", { class: "empty" },
      element("h2", { textContent: title }), element("p", { textContent: text }),
      isEmpty && !this.#store.readOnly
        ? button("New table", { shape: "add", kind: "is-primary", onclick: () => this.#createTable() })
        : null));
  }

  async #createTable() {
    const name = await askForTable((each) => this.#api.createTable(each));
    if (name === undefined) return;
    await this.#readStore();
    location.hash = `#/${encodeURIComponent(name)}`;
  }

  undo() {
    return this.#step(this.#store?.undo, () => this.#api.undo(), "Undone");
  }

  redo() {
    return this.#step(this.#store?.redo, () => this.#api.redo(), "Done again");
  }

  async #step(description, run, verb) {
    if (!description) return this.#notices.say("There is nothing to undo or redo.");
    try {
      await run();
      await Promise.all([this.#readStore(), this.#view?.reread()]);
      this.#route();
      this.#notices.say(`${verb}: ${description}.`);
    } catch (error) {
      this.#notices.fail(error);
    }
  }

  #key(event) {
    if (event.key === "Escape") this.#closeMenu();
    const isTyping = event.target.closest?.("input, textarea, select, dialog");
    if (isTyping || !(event.ctrlKey || event.metaKey)) return;
    const key = event.key.toLowerCase();
    if (key !== "z" && key !== "y") return;
    event.preventDefault();
    if (key === "z" && !event.shiftKey) this.undo();
    else this.redo();
  }

  // The list of tables in a narrow window

  #toggleMenu() {
    const isOpen = this.#root.classList.toggle("is-menu-open");
    this.menuButton.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) this.#sidebar.node.querySelector("a, button")?.focus();
  }

  #closeMenu() {
    this.#root.classList.remove("is-menu-open");
    this.menuButton.setAttribute("aria-expanded", "false");
  }
}

/** Which page is shown in place of a table's records, if any. */
const isShownInstead = (table) => (table?.problem ? "problem" : table?.reading !== undefined ? "reading" : "");

function showStep(node, verb, description) {
  const text = description ? `${verb} ${description}` : verb;
  node.title = description ? text : `Nothing to ${verb.toLowerCase()}`;
  node.setAttribute("aria-label", text);
  node.querySelector(".label").textContent = text;
  node.setAttribute("aria-disabled", String(!description));
}
