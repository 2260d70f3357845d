// The server's routes. Every answer is JSON, except an export or a picture. Every error becomes an ApiError.

import { pageSize, tablePath } from "./connection.js";
import { zoneName } from "./values.js";

/** The server refused a request. It has the server's message, and the place of the error if the server knows it. */
class ApiError extends Error {
  constructor(status, { code, message, id, field, line, position, current }) {
    super(message.charAt(0).toUpperCase() + message.slice(1));
    Object.assign(this, { status, code, id, field, line, position, current });
  }
}

/** The server cannot be reached. */
class ConnectionError extends Error {
  constructor() {
    super("The server does not answer.");
  }
}

/** The undo steps that this tab has made. They are kept until the tab is closed. */
class OwnSteps {
  #key = "filedb-steps";
  #ids = JSON.parse(sessionStorage.getItem(this.#key) ?? "[]");

  add(id) {
    // The server keeps no more than 100.
    this.#ids = [...this.#ids, id].slice(-200);
    sessionStorage.setItem(this.#key, JSON.stringify(this.#ids));
  }

  has(id) {
    return this.#ids.includes(id);
  }
}

export class Api {
  /**
   * The requests that are going on: `since` when, whether each `isWrite`, and its `stop`, an AbortController. And the
   * tasks, which also have a `verb`, and `done`, the part that is done.
   */
  running = new Set();
  /** How often a person has stopped reading. One stop ends several requests. */
  stops = 0;
  #fetch;
  #ownSteps = new OwnSteps();

  /** `fetchFunction` has the same interface as `fetch`. */
  constructor(fetchFunction) {
    this.#fetch = fetchFunction;
  }

  /** Whether this tab made the step. */
  isOwn({ step }) {
    return this.#ownSteps.has(step);
  }

  /** Runs something that needs many requests, such as "Selecting". `run` gets the task, and tells it what is done. */
  async task(verb, run) {
    const task = { since: performance.now(), isWrite: false, stop: new AbortController(), verb, done: 0 };
    this.running.add(task);
    try {
      return await run(task);
    } finally {
      this.running.delete(task);
    }
  }

  /** Stops all requests that change nothing. */
  stopReading() {
    this.stops++;
    for (const { stop, isWrite } of this.running) if (!isWrite) stop.abort();
  }

  store() {
    return this.#get("/api/store");
  }

  createTable(name) {
    return this.#post("/api/tables", { name });
  }

  /** Takes back one step, also if there are newer ones. */
  undo({ step }) {
    return this.#post("/api/undo", { step });
  }

  redo({ step }) {
    return this.#post("/api/redo", { step });
  }

  /** Merges the copies that a sync service has made of tables. */
  mergeCopies() {
    return this.#post("/api/copies/merge", {});
  }

  /** Reads the rows of a spreadsheet's text. Returns `rows`, with null for no value, and their `width`. */
  parse(text) {
    return this.#ask("/api/parse", { text });
  }

  /** The routes of one table. */
  table(name) {
    const path = tablePath(name);
    const get = (route, query, signal) => this.#get(`${path}${route}${search(query)}`, signal);
    const post = (route, body) => this.#post(`${path}/${route}`, body);
    return {
      name,
      info: () => get("", {}),
      records: (query, from, count, signal) => get("/records", { ...zoned(query), from, count }, signal),
      place: (query, id) => get("/place", { ...zoned(query), id }).then(({ place }) => place),
      present: (query, ids) => this.#ask(`${path}/present`, { ...zoned(query), ids }).then((answer) => answer.ids),
      values: (field) => get("/values", { field }),
      record: (id) => get("/record", { id }),
      check: () => get("/check", {}),
      predicate: (where) => this.#get(`/api/predicate${search({ table: name, where })}`),
      predicateHelp: () => this.#get(`/api/predicate${search({ table: name })}`),
      picture: (id, field, signal) => this.#picture(`${path}/picture${search({ id, field })}`, signal),
      exportText: (format, asked) => this.#text(`${path}/export`, { format, ...zoned(asked) }),
      add: (records, at) => post("add", { records, at }),
      set: (id, fields, expected) => post("set", { id, fields, expected }),
      remove: (ids) => post("delete", { ids }),
      duplicate: (ids) => post("duplicate", { ids }),
      move: (ids, to) => post("move", { ids, to }),
      sort: (by) => post("sort", { by }),
      paste: (rows, columns, at) => post("paste", { rows, columns, at }),
      declare: (column) => post("column", column),
      renameColumn: (column, to) => post("rename-column", { name: column, to }),
      dropColumn: (column) => post("drop-column", { name: column }),
      repair: (apply) => post("repair", { apply }),
    };
  }

  async #get(path, signal) {
    return (await this.#answer(path, { signal })).json();
  }

  /** Records come before pictures. */
  async #picture(path, signal) {
    return (await this.#answer(path, { signal, priority: "low" })).blob();
  }

  async #text(path, body) {
    return (await this.#answer(path, posted(body))).text();
  }

  /** A long question. It changes nothing. */
  async #ask(path, body) {
    return (await this.#answer(path, posted(body))).json();
  }

  async #post(path, body) {
    const answer = await (await this.#answer(path, { ...posted(body), isWrite: true })).json();
    if (answer.step) this.#ownSteps.add(answer.step);
    return answer;
  }

  async #answer(path, options) {
    const request = { since: performance.now(), stop: new AbortController(), isWrite: options.isWrite };
    this.running.add(request);
    try {
      return await this.#checked(path, { ...options, signal: anyOf(options.signal, request.stop.signal) });
    } finally {
      this.running.delete(request);
    }
  }

  async #checked(path, options) {
    let response;
    try {
      response = await this.#fetch(path, options);
    } catch (error) {
      throw error.name === "AbortError" ? error : new ConnectionError();
    }
    if (response.ok) return response;
    const answer = await response.json().catch(() => ({}));
    const unknown = { code: "unknown", message: `The server answered with the status ${response.status}.` };
    throw new ApiError(response.status, { ...(answer.error ?? unknown), current: answer.current });
  }
}

const posted = (body) =>
  ({ method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

const anyOf = (one, other) => (one ? AbortSignal.any([one, other]) : other);

/** A query whose dates are in the reader's time zone. */
const zoned = (query) => (query.where || query.search ? { ...query, zone: zoneName } : query);

/** The query of an address. Parameters without a value are left out. */
function search(query) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}

// The records of a table that match a query, in order. They are read in pages when they are needed.

const keptPages = 30;
const requestsAtOnce = 3;
const piece = 1000;

/** The table changed while its pages were being read. The caller starts again. */
class Outdated extends Error {}

export class RecordList {
  total = 0;
  version = null;
  #table;
  #onArrival;
  #onFailure;
  #pages = new Map();
  #requests = new Map();

  /** `query` has `where`, `search` and `sort`, which are all optional. */
  constructor(table, query, { onArrival, onFailure }) {
    this.#table = table;
    this.query = query;
    this.#onArrival = onArrival;
    this.#onFailure = onFailure;
  }

  /** The record at an index; undefined if it has not been read yet. */
  record(index) {
    return this.#pages.get(Math.floor(index / pageSize))?.[index % pageSize];
  }

  /** The index of a record, if it has been read. */
  indexOf(id) {
    for (const [page, records] of this.#pages) {
      const offset = records.findIndex((record) => record.id === id);
      if (offset >= 0) return page * pageSize + offset;
    }
    return undefined;
  }

  /** Replaces the record that was read before by one that was just written. */
  replace(record) {
    const index = this.indexOf(record.id);
    if (index !== undefined) this.#pages.get(Math.floor(index / pageSize))[index % pageSize] = record;
  }

  /** Those of the records that the list has. */
  present(ids) {
    return this.#table.present(this.query, ids);
  }

  place(id) {
    return this.#table.place(this.query, id);
  }

  /** Starts to read the pages for `first...last`, and then their neighbours. Drops pages that are far away. */
  want(first, last) {
    const pages = pagesOf(first, last);
    const [lowest, highest] = [pages[0], pages.at(-1)];
    const lastPage = Math.floor(Math.max(0, this.total - 1) / pageSize);
    const wanted = [...pages, highest + 1, lowest - 1].filter((page) => page >= 0 && page <= lastPage);
    for (const [page, request] of this.#requests) {
      if (!wanted.includes(page)) {
        request.abort();
        this.#requests.delete(page);
      }
    }
    for (const page of wanted) {
      if (this.#pages.has(page)) this.#touch(page);
      else if (!this.#requests.has(page) && this.#requests.size < requestsAtOnce) this.#read(page);
    }
  }

  /** Reads the record at an index, if it is not there. */
  async load(index) {
    if (!this.record(index)) await this.#read(Math.floor(index / pageSize));
  }

  /** Reads the records of a range and returns them in order. */
  async records(first, last, signal) {
    const answer = await this.#table.records(this.query, first, last - first + 1, signal);
    return answer.records;
  }

  /** Reads the records of a range in pieces: `take(records, from)`. A task can be stopped between and within them. */
  async readPieces(first, last, task, take) {
    for (let from = first; from <= last; from += piece) {
      take(await this.records(from, Math.min(last, from + piece - 1), task.stop.signal), from);
      task.done = (from + piece - first) / (last - first + 1);
    }
  }

  /**
   * Reads the newest state: `count` records, the first of them `above` rows above the record `anchor`, or at `fallback`
   * if the anchor is gone. Shows it only when all of it has been read. Returns the place of the first record.
   */
  async refresh({ anchor, above = 0, fallback = 0, count = pageSize }) {
    for (let attempts = 3; ; attempts--) {
      try {
        return await this.#refreshOnce(anchor, above, fallback, count);
      } catch (error) {
        if (!(error instanceof Outdated) || attempts === 0) throw error;
      }
    }
  }

  async #refreshOnce(anchor, above, fallback, count) {
    const place = anchor === undefined ? null : await this.place(anchor);
    const top = place === null ? fallback : Math.max(0, place - above);
    const numbers = pagesOf(top, top + count - 1);
    const answers = await Promise.all(
      numbers.map((page) => this.#table.records(this.query, page * pageSize, pageSize)));
    const { version, total } = answers[0];
    if (answers.some((answer) => answer.version !== version)) throw new Outdated();
    for (const request of this.#requests.values()) request.abort();
    this.#requests.clear();
    this.#pages = new Map(numbers.map((page, index) => [page, answers[index].records]));
    this.version = version;
    this.total = total;
    return Math.max(0, Math.min(top, total - 1));
  }

  async #read(page) {
    const request = new AbortController();
    this.#requests.set(page, request);
    try {
      const answer = await this.#table.records(this.query, page * pageSize, pageSize, request.signal);
      if (request.signal.aborted) return;
      this.#requests.delete(page);
      if (answer.version !== this.version) return this.#onFailure(new Outdated());
      this.#pages.set(page, answer.records);
      this.#forgetOldest();
      this.#onArrival();
    } catch (error) {
      if (request.signal.aborted) return;
      this.#requests.delete(page);
      this.#onFailure(error);
    }
  }

  /** A map keeps the order in which keys were added, so the oldest is first. */
  #touch(page) {
    const records = this.#pages.get(page);
    this.#pages.delete(page);
    this.#pages.set(page, records);
  }

  #forgetOldest() {
    while (this.#pages.size > keptPages) this.#pages.delete(this.#pages.keys().next().value);
  }
}

function pagesOf(first, last) {
  const from = Math.max(0, Math.floor(first / pageSize));
  const to = Math.max(from, Math.floor(last / pageSize));
  return Array.from({ length: to - from + 1 }, (_, offset) => from + offset);
}

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

  /** Deselects all other records. Nobody can do anything with a record that is gone. */
  keep(ids) {
    const kept = new Set(ids);
    if (this.ids.every((id) => kept.has(id))) return;
    this.#places = new Map([...this.#places].filter(([id]) => kept.has(id)));
    this.#onChange();
  }

  clear() {
    this.#anchor = null;
    if (this.#places.size === 0) return;
    this.#places.clear();
    this.#onChange();
  }

  /** Selects from the start of the selection up to `index`. If nothing is selected, it starts at `from`. */
  async extend(list, task, index, from) {
    this.#anchor ??= from;
    const [first, last] = this.#anchor < index ? [this.#anchor, index] : [index, this.#anchor];
    await this.#take(list, task, first, last);
  }

  async all(list, task) {
    if (list.total > 0) await this.#take(list, task, 0, list.total - 1);
  }

  /** If the task is stopped, what was read until then is selected. */
  async #take(list, task, first, last) {
    if (last - first >= mostAtOnce) {
      throw new Error("At most 10,000 records can be selected at once. Use a filter or a search to show fewer. To copy "
        + "all that are shown, deselect these and press Copy.");
    }
    const places = new Map();
    try {
      await list.readPieces(first, last, task, (records, from) =>
        records.forEach((record, offset) => places.set(record.id, from + offset)));
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
    this.#places = places;
    this.#onChange();
  }
}
