// The widths that a person chose for the columns of a table. They are kept until the tab is closed.

const narrowest = 56;
const widest = 1600;

export class ColumnWidths {
  #key;
  #widths;

  constructor(table) {
    this.#key = `filedb-widths/${table}`;
    this.#widths = new Map(JSON.parse(sessionStorage.getItem(this.#key) ?? "[]"));
  }

  /** The width of a column; undefined if nobody chose one. */
  get(name) {
    return this.#widths.get(name);
  }

  /** Keeps a width and returns it, limited to a sensible range. */
  set(name, width) {
    const allowed = Math.round(Math.max(narrowest, Math.min(width, widest)));
    this.#widths.set(name, allowed);
    sessionStorage.setItem(this.#key, JSON.stringify([...this.#widths]));
    return allowed;
  }
}
