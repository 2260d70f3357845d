// What other machines do: a sync service's copies of tables, and the shared store that the folder follows.

import { counted, element, icon } from "./dom.js";

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

function behind({ problem, edited }) {
  const texts = problem ? [`This folder does not follow the shared store: ${ended(problem)}`] : [];
  if (edited.length > 0) texts.push(`The shared store does not have the edited ${files(edited)} yet.`);
  return texts;
}

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
