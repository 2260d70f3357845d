// The copies that a sync service has made of tables.

import { counted } from "./dom.js";

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
