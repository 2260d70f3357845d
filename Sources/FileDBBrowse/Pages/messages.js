// What the pages say by themselves: short messages, what is going on, what other machines do, the line below the
// records, and why a table's records are not shown.

import { button, counted, element, grouped, icon } from "./dom.js";
import { sizeText, sortWords } from "./values.js";

// Short messages below the records, which screen readers read aloud, and the line about a lost connection.

const shownFor = 7000;
const mostShown = 3;

export class Notices {
  node = element("div", { class: "notices", role: "status", "aria-live": "polite" });
  banner = element("div", { class: "banner", role: "alert", hidden: true });

  /** The buttons that undo a step, and whether the store has already been seen with the step. */
  #undoing = new Map();
  /** The steps of the store when it was last seen. */
  #steps = new Set();

  /** `action` is `{label, run}`, a button beside the text. If it has a `step`, it goes away with that. */
  say(text, action) {
    this.#show(text, "", action);
  }

  fail(error) {
    if (error.name !== "AbortError") this.#show(error.message, "is-problem");
  }

  /** Takes away the buttons for steps that can no longer be undone. `steps` are the others. */
  keepActions(steps) {
    this.#steps = steps;
    for (const [node, undoing] of this.#undoing) {
      const isThere = steps.has(undoing.step);
      if (isThere) undoing.wasThere = true;
      if (node.isConnected && (isThere || !undoing.wasThere)) continue;
      node.remove();
      this.#undoing.delete(node);
    }
  }

  #show(text, kind, action) {
    const notice = element("div", { class: `notice ${kind}` }, element("span", { textContent: text }));
    const remove = () => notice.remove();
    if (action) {
      const node = button(action.label, {
        kind: "is-small",
        onclick: () => {
          remove();
          action.run();
        },
      });
      if (action.step) this.#undoing.set(node, { step: action.step, wasThere: this.#steps.has(action.step) });
      notice.append(node);
    }
    notice.append(button("Dismiss", { shape: "close", kind: "is-quiet is-icon", onclick: remove }));
    this.node.append(notice);
    if (this.node.children.length > mostShown) this.node.firstChild.remove();
    setTimeout(remove, shownFor);
  }

  /** Shows a line above everything else until `hideBanner`. */
  showBanner(text) {
    this.banner.replaceChildren(icon("warning"), element("span", { textContent: text }));
    this.banner.hidden = false;
  }

  hideBanner() {
    this.banner.hidden = true;
  }
}

// What takes more than a second is shown, and can be stopped if it only reads.

const shownAfter = 1000;

export class LongWork {
  node = element("div", { class: "working", role: "status", hidden: true });
  #api;
  #progress = element("progress", { "aria-label": "Working" });
  #text = element("span");
  #stop = button("Stop", { kind: "is-small", onclick: () => this.#stopReading() });

  constructor(api) {
    this.#api = api;
    this.node.append(this.#progress, this.#text, this.#stop);
    setInterval(() => this.#show(), shownAfter / 4);
  }

  get #long() {
    return [...this.#api.running].filter(({ since }) => performance.now() - since > shownAfter);
  }

  get #task() {
    return this.#long.find(({ verb }) => verb);
  }

  #show() {
    const long = this.#long;
    this.node.hidden = long.length === 0;
    if (long.length === 0) return;
    const isWriting = long.some(({ isWrite }) => isWrite);
    const task = this.#task;
    const verb = isWriting ? "Writing" : task?.verb ?? "Reading";
    if (this.#text.textContent !== `${verb}…`) this.#text.textContent = `${verb}…`;
    if (task) this.#progress.value = task.done;
    else this.#progress.removeAttribute("value");
    const label = `Stop ${verb.toLowerCase()}`;
    // A screen reader may be reading it.
    if (this.#stop.title !== label) {
      this.#stop.title = this.#stop.ariaLabel = this.#stop.querySelector(".label").textContent = label;
    }
    // A write that has begun is not left half known.
    this.#stop.hidden = isWriting;
  }

  #stopReading() {
    const task = this.#task;
    if (task) task.stop.abort();
    else this.#api.stopReading();
  }
}

// What other machines do: a sync service's copies of tables, and the shared store that the folder follows.

/** Says that the store is shared, and for as long as it lasts, why the folder or the shared store is behind. */
export class SharedState {
  badge = element("span", { class: "badge", hidden: true });
  banner = element("div", { class: "banner", role: "alert", hidden: true });

  show(shared) {
    this.badge.hidden = !shared;
    const texts = shared ? behind(shared) : [];
    this.badge.textContent = texts.length > 0 ? "shared, behind" : "shared";
    this.badge.title = shared?.address ?? "";
    this.banner.hidden = texts.length === 0;
    const text = texts.join(" ");
    // A screen reader reads it again whenever it is put there.
    if (this.banner.textContent === text) return;
    this.banner.replaceChildren(icon("warning"), element("span", { textContent: text }));
  }
}

function behind({ problem, edited, repairs }) {
  const texts = repairs.map(repaired);
  if (problem) texts.unshift(`This folder does not follow the shared store: ${ended(problem)}`);
  if (edited.length > 0) texts.push(`The shared store does not have the edited ${files(edited)} yet.`);
  return texts;
}

/** What `filedb repair` does to a broken file. It compares the ids of the records; their numbers do not tell. */
const repaired = ({ table, before, kept }) =>
  `The file of “${table}” cannot be read. “filedb repair” finds ${counted(kept, "record")} in it`
  + (before === null ? ". " : `; the shared store has ${grouped(before)}. `)
  + "If the file lacks a record of the shared store, “filedb repair” puts the file of that store in its place.";

const ended = (text) => (/[.?!]$/.test(text) ? text : `${text}.`);

const files = (tables) =>
  `${tables.length === 1 ? "file" : "files"} of ${tables.map((name) => `“${name}”`).join(", ")}`;

export class Copies {
  #api;
  #notices;
  #onMerged;
  /** The files of the copies that were there at the last look. */
  #told = new Set();

  /** `onMerged` is called with a text and the undo step. */
  constructor(api, notices, onMerged) {
    [this.#api, this.#notices, this.#onMerged] = [api, notices, onMerged];
  }

  /** Tells once of each copy. */
  tell({ copies, readOnly }) {
    const isNew = copies.some(({ file }) => !this.#told.has(file));
    this.#told = new Set(copies.map(({ file }) => file));
    if (!isNew) return;
    const text = copies.map(({ file, kind }) => `“${file}” is ${kind}.`).join(" ");
    this.#notices.say(text, readOnly ? undefined : { label: "Merge", run: () => this.#merge() });
  }

  async #merge() {
    try {
      const { copies, failures, step } = await this.#api.mergeCopies();
      const texts = copies.length > 0 ? [`Merged: ${copies.map(merged).join("; ")}.`] : [];
      await this.#onMerged([...texts, ...failures].join(" "), step);
    } catch (error) {
      this.#notices.fail(error);
    }
  }
}

function merged({ table, added, changed, conflicts, stays }) {
  const parts = [`${counted(added, "record")} added to ${table}`];
  if (changed > 0) parts.push(`${changed} changed`);
  if (conflicts > 0) parts.push(`${counted(conflicts, "conflict")}, which “filedb conflicts” settles`);
  if (stays) parts.push("and the copy stays; remove it when all machines have the same files");
  return parts.join(", ");
}

/** The line below the records: the place, the order, and the values that were refused. */
export class StatusLine {
  node = element("div", { class: "status" });
  #actions;
  #place = element("span", { class: "status-place" });
  #sorted = element("span", { class: "status-sorted" });
  #refused = element("div", { class: "status-refused", role: "alert", hidden: true });

  /** `actions`: `keepOrder()`, `endSort()`, `showEditor(editor)`, `giveUp(editor)`. */
  constructor(actions) {
    this.#actions = actions;
    this.node.append(this.#refused, this.#place, this.#sorted);
  }

  showPlace(row, total) {
    const place = row < 0 || total === 0 ? counted(total, "record") : `Record ${grouped(row + 1)} of ${grouped(total)}`;
    this.#place.textContent = place;
  }

  /** What is left is what was refused. */
  hidePlace() {
    this.#place.textContent = "";
    this.#sorted.replaceChildren();
  }

  showSort(keys, isReadOnly) {
    if (keys.length === 0) return this.#sorted.replaceChildren();
    const keep = button("Keep this order", { kind: "is-small", onclick: () => this.#actions.keepOrder() });
    const end = button("End the sorting", { kind: "is-small is-quiet", onclick: () => this.#actions.endSort() });
    this.#sorted.replaceChildren(`View sorted by ${sortWords(keys)}`, ...(isReadOnly ? [] : [keep]), end);
  }

  /** Shows the newest of the editors whose values were refused. The others follow when it is done. */
  showRefused(editors) {
    const [editor] = editors.slice(-1);
    this.#refused.hidden = !editor;
    if (!editor) return this.#refused.replaceChildren();
    const more = editors.length > 1 ? ` (${editors.length} values are not saved)` : "";
    this.#refused.replaceChildren(
      icon("warning"),
      element("span", { textContent: `Not saved: ${editor.label}. ${editor.problem.textContent}${more}` }),
      button("Show", { kind: "is-small", onclick: () => this.#actions.showEditor(editor) }),
      button("Give up", { kind: "is-small is-quiet", onclick: () => this.#actions.giveUp(editor) }));
  }
}

// The pages in place of records: for a table that cannot be read, with what a repair would keep, and for a large table
// that the server is still reading.

/** `isReadOnly` hides the repair. `onRepaired(outcome)` is called after it. */
export function brokenTable(table, message, { isReadOnly, onRepaired, onFailure }) {
  const problems = element("ul", { class: "problems" });
  const outcome = element("p", { class: "outcome", role: "status" });
  const report = element("ul", { class: "report", hidden: true, tabIndex: 0, "aria-label": "What a repair does" });
  const apply = button("Repair it now", {
    shape: "check", kind: "is-primary", hidden: true,
    onclick: () => table.repair(true).then(onRepaired).catch(onFailure),
  });
  const show = (found) => problems.replaceChildren(...found.map(problemItem));
  table.check().then((answer) => show(answer.problems), (error) => {
    if (error.name === "AbortError") show([{ message: "The check was stopped." }]);
    else onFailure(error);
  });
  if (!isReadOnly) {
    table.repair(false).then((plan) => {
      outcome.textContent = outcomeText(plan);
      report.replaceChildren(...plan.notes.map((each) => element("li", { textContent: each })));
      report.hidden = plan.notes.length === 0;
      apply.hidden = false;
    }, (error) => (outcome.textContent = `A repair is not possible here: ${error.message}`));
  }
  return element(
    "section",
    { class: "broken", "aria-label": `The table ${table.name} cannot be read` },
    element("h2", {}, icon("warning"), `${table.name} cannot be read`),
    element("p", { textContent: message }),
    element("h3", { textContent: "What the check found" }),
    problems,
    element("h3", { textContent: "What a repair does" }),
    isReadOnly
      ? element("p", { class: "note", textContent: "This page is read-only. To repair the table, run filedb browse "
        + "without --read-only." })
      : outcome,
    report,
    element("p", { class: "note", hidden: isReadOnly, textContent: "The file stays as it is until you repair it, or "
      + "correct it in an editor. A repair keeps a copy of it in .filedb/backups. It cannot be undone." }),
    element("div", { class: "buttons" }, apply));
}

/**
 * What stays and what goes. `before` is what a page last saw, and null if none has seen the table since the server was
 * started. Somebody may have deleted records since.
 */
function outcomeText({ before, kept, lost, notes }) {
  if (notes.length === 0 && lost === 0) return "There is nothing to repair.";
  const stays = kept === null ? "" : `${counted(kept, "record")} ${kept === 1 ? "stays" : "stay"}`;
  if (lost === 0) return `${stays === "" ? "" : `${stays}. `}Nothing is lost.`;
  const copy = "Only the copy keeps what goes.";
  if (kept !== null && before > kept) {
    const gone = before - kept;
    return `${stays}, ${grouped(gone)} ${gone === 1 ? "goes" : "go"}: a page last saw ${grouped(before)}. ${copy}`;
  }
  const goes = lost === 1 ? "goes; it may have held" : "go; each may have held";
  return `${stays === "" ? "" : `${stays}. `}${counted(lost, "piece")} of the file cannot be read and ${goes} many `
    + `records. ${copy}`;
}

function problemItem({ message, line }) {
  const place = element("span", { class: "line-number", textContent: `line ${line}` });
  return element("li", {}, line ? place : null, element("span", { textContent: message }));
}

/** Shown if reading was stopped before there was a list. `onAgain()` reads. */
export const unreadTable = (onAgain) => element(
  "section",
  { class: "empty" },
  element("h2", { textContent: "Nothing has been read" }),
  element("p", { role: "status", textContent: "Reading was stopped before the first records were there." }),
  button("Read again", { kind: "is-primary", onclick: onAgain }));

/** `bytes` is the size of the table's file. */
export const readingTable = (name, bytes) => element(
  "section",
  { class: "empty is-reading", role: "status" },
  element("h2", { textContent: `Reading ${name}` }),
  element("p", {
    textContent: `Its file has ${sizeText(bytes)}, so reading it takes some seconds. Then the records appear.`,
  }),
  element("progress", { "aria-label": "Reading" }));
