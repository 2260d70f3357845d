// The server's routes. Every answer is JSON, except an export or a picture. Every error becomes an ApiError.

import { tablePath } from "./early.js";
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
  /** The requests that are going on: `since` when, whether each `isWrite`, and its `stop`, an AbortController. */
  running = new Set();
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
