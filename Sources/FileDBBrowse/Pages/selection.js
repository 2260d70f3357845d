// The selected records. Each is kept with its place at the time, so that they are used in their order.

const mostAtOnce = 10_000;

export class Selection {
  #places = new Map();
  #anchor = null;
  #onChange;

  constructor(onChange) {
    this.#onChange = onChange;
  }

  get size() {
    return this.#places.size;
  }

  get ids() {
    return [...this.#places].sort(([, one], [, other]) => one - other).map(([id]) => id);
  }

  has(id) {
    return this.#places.has(id);
  }

  toggle(id, index) {
    if (this.#places.has(id)) this.#places.delete(id);
    else this.#places.set(id, index);
    this.#anchor = index;
    this.#onChange();
  }

  only(ids, index) {
    this.#places = new Map(ids.map((id, offset) => [id, index + offset]));
    this.#anchor = index;
    this.#onChange();
  }

  clear() {
    this.#anchor = null;
    if (this.#places.size === 0) return;
    this.#places.clear();
    this.#onChange();
  }

  /** Selects from the start of the selection up to `index`. If nothing is selected, it starts at `from`. */
  async extend(list, index, from) {
    this.#anchor ??= from;
    const [first, last] = this.#anchor < index ? [this.#anchor, index] : [index, this.#anchor];
    await this.#take(list, first, last);
  }

  async all(list) {
    if (list.total > 0) await this.#take(list, 0, list.total - 1);
  }

  async #take(list, first, last) {
    if (last - first >= mostAtOnce) {
      throw new Error("At most 10,000 records can be selected at once. Use a filter or a search to show fewer.");
    }
    const places = new Map();
    for (let from = first; from <= last; from += 1000) {
      const records = await list.records(from, Math.min(last, from + 999));
      records.forEach((record, offset) => places.set(record.id, from + offset));
    }
    this.#places = places;
    this.#onChange();
  }
}
