// The whole page: the tables at the left, the table that is shown, undo and redo, and the connection.

import { Api } from "./api.js";
import { fetchSooner, forgetEarly, isPage, listen, tableInAddress, token } from "./connection.js";
import { askForTable, showKeys } from "./dialogs.js";
import { button, counted, element, grouped, icon } from "./dom.js";
import { Copies, LongWork, Notices, SharedState } from "./messages.js";
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
  /** The tables that somebody left with values that were refused. */
  #kept = new Map();
  #notices = new Notices();
  #work;
  #copies;
  #shared = new SharedState();
  #sidebar = new Sidebar({ onNew: () => this.#createTable() });
  #title = element("h1", { class: "title", dir: "auto" });
  #count = element("span", { class: "count" });
  #main = element("main", { class: "main", tabIndex: -1, onclick: () => this.#closeMenu() });

  constructor(root, api) {
    this.#root = root;
    this.#api = api;
    this.#work = new LongWork(api);
    this.#copies = new Copies(api, this.#notices, (text, step) => this.#showMerged(text, step));
    this.undoButton = button("Undo", {
      shape: "undo", kind: "is-quiet", onclick: () => this.#undoNamed(this.#next("undo")),
    });
    this.redoButton = button("Redo", {
      shape: "redo", kind: "is-quiet", onclick: () => this.#redoNamed(this.#next("redo")),
    });
    this.menuButton = button("Tables", {
      shape: "menu", kind: "is-quiet is-icon menu-button", "aria-expanded": "false", "aria-controls": "sidebar",
      onclick: () => this.#toggleMenu(),
    });
    this.badge = element("span", { class: "badge", textContent: "read only", hidden: true });
  }

  /** Shows the page that the address names. Resolves when it is shown. */
  async start() {
    this.#root.replaceChildren(
      element("div", { class: "banners" }, this.#notices.banner, this.#shared.banner), this.#sidebar.node,
      element("div", { class: "page" },
        element("header", { class: "header" }, this.menuButton, this.#title, this.#count, this.badge,
          this.#shared.badge,
          element("div", { class: "header-tools" }, this.undoButton, this.redoButton,
            button("Keys", { shape: "keyboard", kind: "is-quiet is-icon", onclick: showKeys }))),
        this.#main, this.#work.node, this.#notices.node));
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
    // A table that broke, was repaired or was read.
    if (isShownInstead(before) !== isShownInstead(now)) this.#view?.refresh();
    this.#store = store;
    this.#sidebar.show(store, this.#current);
    this.badge.hidden = !store.readOnly;
    this.#notices.keepActions(new Set([...store.undo, ...store.redo].map(({ step }) => step)));
    showStep(this.undoButton, "Undo", this.#next("undo"), this.#api);
    showStep(this.redoButton, "Redo", this.#next("redo"), this.#api);
    this.undoButton.hidden = this.redoButton.hidden = store.readOnly;
    this.#copies.tell(store);
    this.#shared.show(store.shared);
  }

  async #showMerged(text, step) {
    await Promise.all([this.#readStore(), this.#view?.reread()]);
    this.#notices.say(text, this.#undoAction(step));
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
    // What was typed there and refused is not lost.
    if (this.#view?.hasRefused) this.#kept.set(this.#current, this.#view);
    this.#current = asked;
    this.#title.textContent = table ? asked : "";
    this.#count.textContent = "";
    document.title = table ? `${asked} – FileDB` : "FileDB";
    this.#sidebar.show(this.#store, asked);
    if (table) await this.#openTable(table);
    else this.#showNoTable(asked);
  }

  #openTable({ name, attached }) {
    const kept = this.#kept.get(name);
    this.#kept.delete(name);
    if (kept) {
      this.#view = kept;
      this.#main.replaceChildren(kept.node);
      return kept.return();
    }
    const view = new TableView(name, {
      api: this.#api, notices: this.#notices, isReadOnly: this.#store.readOnly || attached,
      storePath: this.#store.path,
      undoAction: (step) => this.#undoAction(step),
      onCount: (count) => this.#showCount(view, count),
      onRepaired: (outcome) => this.#reopen(outcome),
    });
    this.#view = view;
    this.#main.replaceChildren(view.node);
    return view.load();
  }

  /** A table that is no longer shown may still be loading. */
  #showCount(view, count) {
    if (view === this.#view) this.#count.textContent = count === undefined ? "" : counted(count, "record");
  }

  async #reopen({ backups }) {
    await Promise.all([this.#readStore(), this.#view?.refresh()]);
    const kept = backups.map((path) => `The original is kept as ${path}.`);
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

  // Undo and redo

  /** The step that a person most likely means: the last of this tab, or else the last of all. */
  #next(direction) {
    const steps = this.#store?.[direction] ?? [];
    return steps.find((step) => this.#api.isOwn(step)) ?? steps[0];
  }

  /** Takes back what this tab did last. What others did is named, and taken back if the person wants that. */
  async #takeBack(direction) {
    await this.#readStore();  // A step may be newer than the last event.
    const step = this.#next(direction);
    if (!step) return this.#notices.say(`There is nothing to ${direction}.`);
    const run = () => (direction === "undo" ? this.#undoNamed(step) : this.#redoNamed(step));
    if (this.#api.isOwn(step)) return run();
    const label = direction === "undo" ? "Undo it" : "Redo it";
    this.#notices.say(`Not done on this page: ${step.name}.`, { label, run, step: step.step });
  }

  #undoNamed(step) {
    const [newest] = this.#store.undo;
    const isBehind = step && newest.step !== step.step && !this.#api.isOwn(newest);
    const rest = isBehind ? ` What somebody else did since stays: ${newest.name}.` : "";
    return this.#step(step, () => this.#api.undo(step), "Undone", rest);
  }

  #redoNamed(step) {
    return this.#step(step, () => this.#api.redo(step), "Done again", "");
  }

  async #step(step, run, verb, rest) {
    if (!step) return this.#notices.say("There is nothing to undo or redo.");
    try {
      await run();
      await Promise.all([this.#readStore(), this.#view?.reread()]);
      this.#route();
      this.#notices.say(`${verb}: ${step.name}.${rest}`);
    } catch (error) {
      this.#notices.fail(error);
    }
  }

  /** The button of a message about a step. It undoes this step, and goes away when it cannot any more. */
  #undoAction(step) {
    return step ? { label: "Undo", step, run: () => this.#undoStep(step) } : undefined;
  }

  #undoStep(step) {
    return this.#undoNamed(this.#store.undo.find((each) => each.step === step) ?? { step, name: "this change" });
  }

  #key(event) {
    if (event.key === "Escape") this.#closeMenu();
    if (!(event.ctrlKey || event.metaKey)) return;
    const run = this.#commandKey(event);
    if (!run) return;
    event.preventDefault();
    run();
  }

  #commandKey({ key, shiftKey, target }) {
    const name = key.toLowerCase();
    // The browser would print only what is seen.
    if (name === "p" && this.#view?.list) return () => this.#view.print();
    const isTyping = target.closest?.("input, textarea, select, dialog");
    if (isTyping || !["z", "y"].includes(name)) return undefined;
    return () => this.#takeBack(name === "z" && !shiftKey ? "undo" : "redo");
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

function showStep(node, verb, step, api) {
  const owner = step && !api.isOwn(step) ? " (elsewhere)" : "";
  const text = step ? `${verb}${owner} ${step.name}` : verb;
  node.title = step ? text : `Nothing to ${verb.toLowerCase()}`;
  node.setAttribute("aria-label", text);
  node.querySelector(".label").textContent = text;
  node.setAttribute("aria-disabled", String(!step));
}

// The list of the store's tables.

class Sidebar {
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
    element("span", { class: "table-name", dir: "auto", textContent: name }));
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

/** What a tab shows that was not let in. */
const noAccess = () =>
  element(
    "main", { class: "empty no-access" },
    element("h1", { class: "title", textContent: "This tab has no access to the store" }),
    element("p", { textContent: "The address that “filedb browse” prints works once, in one tab." }),
    element("p", { textContent: "For a second tab, duplicate the first one: its context menu says “Duplicate”." }),
    element("p", { textContent: "If there is none any more, end the command and start it again." }));

async function start(root) {
  const own = await token;
  if (own === null) return root.replaceChildren(noAccess());
  const app = new App(root, new Api(fetchSooner));
  await app.start();
  forgetEarly();
  // After the first event, the page reads again what has changed since the early answers.
  listen(own, (event) => app.receive(event));
}

if (isPage) await start(document.getElementById("app"));
