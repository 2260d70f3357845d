// A connection to the server's event stream. It connects again when the connection breaks.

const retryAfter = 1000;

/**
 * Calls `receive` with `{kind: "up"}`, `{kind: "down", refused}`, and with the server's events:
 * `{kind: "tables", data}` and `{kind: "change", data}`. It does not connect again after the server has refused the
 * token: another start of the server has another one.
 */
export class EventStream {
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
