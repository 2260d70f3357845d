// Every part of the pages alone, on a server that is faked in memory. Serve the repository and open this page:
//   python3 -m http.server, then http://localhost:8000/Tests/BrowserPages/gallery.html
// With ?app after it, one sees all of them together.

import { Api } from "../../Sources/FileDBBrowse/Pages/api.js";
import { App } from "../../Sources/FileDBBrowse/Pages/app.js";
import { askAboutPaste, askForPlace, showKeys } from "../../Sources/FileDBBrowse/Pages/dialogs.js";
import { button, element } from "../../Sources/FileDBBrowse/Pages/dom.js";
import { askAboutConflict, openRecord } from "../../Sources/FileDBBrowse/Pages/editing.js";
import { editorFor } from "../../Sources/FileDBBrowse/Pages/editors.js";
import { FilterBar } from "../../Sources/FileDBBrowse/Pages/filter.js";
import { brokenTable, Notices } from "../../Sources/FileDBBrowse/Pages/messages.js";
import { typeOf } from "../../Sources/FileDBBrowse/Pages/values.js";
import { FakeServer, sampleValues } from "./fake-server.js";

const server = new FakeServer();
globalThis.fakeServer = server;  // For the tests.
const api = new Api((path, options) => server.answer(path, options));

function showApp() {
  const root = element("div", { class: "app", id: "app" });
  document.body.append(root);
  const app = new App(root, api);
  server.onEvent = (event) => app.receive(event);
  app.start();
}

function showParts() {
  const notices = new Notices();
  document.body.append(element("main", { class: "gallery" },
    element("h1", { class: "title", textContent: "The parts of filedb browse" }),
    sample("Editors", ...sampleValues.map(sampleEditor)),
    sample("Filter", new FilterBar(api.table("food"), ({ where }) => notices.say(`Filter: ${where}`)).node),
    sample("A broken table", brokenTable(api.table("broken"), "The file is damaged.", {
      onRepaired: () => notices.say("Repaired."), onFailure: (error) => notices.fail(error),
    })),
    sample("Dialogs", dialogs())));
  document.body.append(notices.banner, notices.node);
}

const sample = (title, ...parts) =>
  element("section", { class: "sample", "aria-label": title }, element("h2", { textContent: title }), ...parts);

function sampleEditor(value) {
  const type = typeOf(value);
  const label = type ?? "";
  return element("div", { class: "field", data: { editor: type } },
    element("span", { class: "field-name", textContent: label }), editorFor(value, type, { label }).node);
}

function dialogs() {
  const record = { id: "3", fields: sampleValues.map((value) => [typeOf(value), value]) };
  const columns = [{ name: "string", type: "string" }];
  const current = { id: "3", fields: [["name", "Soy milk"]] };
  const openers = {
    "A record": () => openRecord(record, { title: "Record 3", api, columns, action: "Save" }, () => record),
    "A conflict": () => askAboutConflict({
      id: "3", changes: [["name", "Oat milk"]], expected: [["name", "Milk"]], current,
    }),
    "Deleted meanwhile": () => askAboutConflict({ id: "3", changes: [], expected: [], current: null }),
    "Move to": () => askForPlace(2, 40),
    "Paste": () => askAboutPaste(
      [["name", "kcal"], ["Quince", "57"], ["Pear", null]], 2, [{ name: "name" }, { name: "kcal" }], 0, () => []),
    "Keys": showKeys,
  };
  return element("div", { class: "buttons" },
    ...Object.entries(openers).map(([label, open]) => button(label, { onclick: open })));
}

/** Loads all style sheets, as the list of pages names them. */
async function loadStyles() {
  const list = await (await fetch("../../Sources/CFileDBPages/Pages.c")).text();
  await Promise.all([...list.matchAll(/#define PAGE (\S+\.css)/g)].map(([, name]) => new Promise((loaded) => {
    const href = `../../Sources/FileDBBrowse/Pages/${name}`;
    document.head.append(element("link", { rel: "stylesheet", href, onload: loaded }));
  })));
}

await loadStyles();
if (location.search === "?app") showApp();
else showParts();
