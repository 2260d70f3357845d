// Copying to the clipboard.

import { field, lineOf } from "./values.js";

export class Clipboard {
  #table;
  #notices;

  constructor(table, notices) {
    this.#table = table;
    this.#notices = notices;
  }

  /** Copies records as `filedb export` writes them. `asked` has their ids or is a query. `format` is json or csv. */
  copy(asked, format) {
    if (asked.ids === "") return this.#notices.say("There is no record to copy.");
    return this.#put(this.#table.exportText(format, asked), `Copied as ${format.toUpperCase()}.`);
  }

  /** Copies a field of a record, or its id if no field is named. */
  copyField(id, name) {
    if (id === undefined) return;
    const text = name === undefined ? Promise.resolve(id) : this.#fieldText(id, name);
    return this.#put(text, "Copied the field.");
  }

  async #fieldText(id, name) {
    return lineOf(field(await this.#table.record(id), name));
  }

  /**
   * A promise in the clipboard's item keeps the permission from the person's key press while the text is being read.
   */
  async #put(text, message) {
    try {
      const blob = text.then((each) => new Blob([each], { type: "text/plain" }));
      await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
      this.#notices.say(message);
    } catch (error) {
      this.#notices.fail(error);
    }
  }
}
