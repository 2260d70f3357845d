// The way to the server: the token, the first requests, and the events. This module needs no other, because it runs
// while the others are still loading, and as the worker that receives the events.

/** Whether this is the page that the server serves. The worker is not, nor is the gallery of the tests. */
export const isPage = location.pathname === "/";

// Lets this tab in. The address that was opened has an invitation, for which the server gives out its token once. The
// tab keeps the token until it is closed, and sends it with every request.

const place = "filedb-token";
const invitation = /^#token=([0-9a-f]+)/;

/** The token of this tab; null if it has none. */
export const token = isPage ? enter() : null;

/** Like `fetch`, with the token of this tab. */
async function fetchWithToken(path, options = {}) {
  return fetch(path, { ...options, headers: { ...options.headers, ...bearing(await token) } });
}

function bearing(text) {
  return { Authorization: `Bearer ${text}` };
}

async function enter() {
  const [start, text] = location.hash.match(invitation) ?? [];
  if (text) {
    // Nobody shall see it in the address, or in a history.
    history.replaceState(null, "", `#${location.hash.slice(start.length)}`);
    const answer = await fetch("/api/token", { method: "POST", headers: bearing(text) }).catch(() => null);
    if (answer?.ok) sessionStorage.setItem(place, (await answer.json()).token);
  }
  return sessionStorage.getItem(place);
}

// Somebody opens the address of a new start in a tab that shows this page already.
addEventListener("hashchange", () => {
  if (invitation.test(location.hash)) location.reload();
});

// Requests what the page shows first while most modules are still loading.

/** The number of records that are read at a time. */
export const pageSize = 200;

const early = new Map();

/** Like `fetchWithToken`. If the answer was requested early, returns that. */
export function fetchSooner(path, options) {
  const answer = early.get(path);
  early.delete(path);
  return answer ?? fetchWithToken(path, options);
}

/** What was requested early and not used is now outdated. */
export function forgetEarly() {
  early.clear();
}

/** The table that the address names, if any. */
export const tableInAddress = () => decodeURIComponent(location.hash.replace(/^#\/?/, ""));

/** The path of a table on the server. */
export const tablePath = (name) => `/api/tables/${encodeURIComponent(name)}`;

function ask(path) {
  const answer = fetchWithToken(path);
  early.set(path, answer);
  return answer;
}

async function begin() {
  if ((await token) === null) return;
  const store = ask("/api/store").then((answer) => answer.clone().json());
  const name = tableInAddress() || (await store).tables?.[0]?.name;
  if (name === undefined) return;
  await Promise.all([store, ask(tablePath(name)), ask(`${tablePath(name)}/records?from=0&count=${pageSize}`)]);
}

// If an early request fails, the module that takes its answer gets the error and shows it.
if (isPage) begin().catch(() => {});

// The events of the server. A worker that all tabs share receives them, if the browser has such workers: one allows
// just six connections to a host.

const retryAfter = 1000;

/**
 * A connection to the server's event stream. It connects again when the connection breaks.
 *
 * Calls `receive` with `{kind: "up"}`, `{kind: "down", refused}`, and with the server's events:
 * `{kind: "tables", data}` and `{kind: "change", data}`. It does not connect again after the server has refused the
 * token: another start of the server has another one.
 */
class EventStream {
  /** Tells the present state to a page that connects later. */
  state = { kind: "up" };
  #token;
  #receive;

  constructor(token, receive) {
    this.#token = token;
    this.#receive = receive;
    this.#listen();
  }

  async #listen() {
    // An EventSource could not send the token.
    const headers = { Authorization: `Bearer ${this.#token}` };
    while (!this.state.refused) {
      const answer = await fetch("/api/events", { headers }).catch(() => null);
      if (answer?.ok) await this.#read(answer.body).catch(() => {});
      this.#tell({ kind: "down", refused: answer?.status === 403 });
      await new Promise((proceed) => setTimeout(proceed, retryAfter));
    }
  }

  #tell(state) {
    this.state = state;
    this.#receive(state);
  }

  async #read(body) {
    this.#tell({ kind: "up" });
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      const events = (text + piece.value).split("\n\n");
      text = events.pop();
      for (const event of events) this.#pass(event);
    }
  }

  /** A heartbeat is a comment, which has no data. */
  #pass(event) {
    const [, kind, data] = event.match(/^event: (.*)\ndata: (.*)$/) ?? [];
    if (kind) this.#receive({ kind, data: JSON.parse(data) });
  }
}

/** Calls `receive` for each event, see EventStream. */
export function listen(token, receive) {
  if (!("SharedWorker" in globalThis)) {
    new EventStream(token, receive);
    return;
  }
  // The worker gets the token as its name. So only tabs with the same token share it.
  const { port } = new SharedWorker(import.meta.url, { type: "module", name: token });
  port.onmessage = ({ data }) => receive(data);
  addEventListener("pagehide", (event) => {
    if (!event.persisted) port.postMessage("leave");
  });
}

/** What the worker does: it holds the only stream for all tabs. */
function serveTabs() {
  const ports = new Set();
  let stream;
  globalThis.onconnect = ({ ports: [port] }) => {
    ports.add(port);
    port.onmessage = () => ports.delete(port);
    if (stream) port.postMessage(stream.state);
    stream ??= new EventStream(globalThis.name, (event) => {
      for (const each of ports) each.postMessage(event);
    });
  };
}

if ("SharedWorkerGlobalScope" in globalThis) serveTabs();
