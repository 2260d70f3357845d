// The events of the server. A worker that all tabs share receives them, if the browser has such workers: one allows
// just six connections to a host. This module is that worker, too.

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
