// The server's routes. Every answer is JSON, except an export or a picture. Every error becomes an ApiError.

import { tablePath } from "./early.js";

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

export class Api {
  #fetch;

  /** `fetchFunction` has the same interface as `fetch`. */
  constructor(fetchFunction) {
    this.#fetch = fetchFunction;
  }

  store() {
    return this.#get("/api/store");
  }

  createTable(name) {
    return this.#post("/api/tables", { name });
  }

  undo() {
    return this.#post("/api/undo", {});
  }

  redo() {
    return this.#post("/api/redo", {});
  }

  /** The routes of one table. */
  table(name) {
    const path = tablePath(name);
    const get = (route, query, signal) => this.#get(`${path}${route}${search(query)}`, signal);
    const post = (route, body) => this.#post(`${path}/${route}`, body);
    return {
      name,
      info: () => get("", {}),
      records: (query, from, count, signal) => get("/records", { ...query, from, count }, signal),
      place: (query, id) => get("/place", { ...query, id }).then(({ place }) => place),
      record: (id) => get("/record", { id }),
      check: () => get("/check", {}),
      predicate: (where) => this.#get(`/api/predicate${search({ table: name, where })}`),
      predicateHelp: () => this.#get(`/api/predicate${search({ table: name })}`),
      picture: (id, field, signal) => this.#picture(`${path}/picture${search({ id, field })}`, signal),
      exportText: (format, query) => this.#text(`${path}/export${search({ format, ...query })}`),
      add: (records, at) => post("add", { records, at }).then(({ ids }) => ids),
      set: (id, fields, expected) => post("set", { id, fields, expected }),
      remove: (ids) => post("delete", { ids }),
      duplicate: (ids) => post("duplicate", { ids }).then(({ ids: copies }) => copies),
      move: (ids, to) => post("move", { ids, to }),
      sort: (by) => post("sort", { by }),
      paste: (text, columns, at) => post("paste", { text, columns, at }).then(({ ids }) => ids),
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

  async #text(path) {
    return (await this.#answer(path, {})).text();
  }

  async #post(path, body) {
    const headers = { "Content-Type": "application/json" };
    return (await this.#answer(path, { method: "POST", headers, body: JSON.stringify(body) })).json();
  }

  async #answer(path, options) {
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

/** The query of an address. Parameters without a value are left out. */
function search(query) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}
