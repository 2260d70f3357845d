// A connection to the server's event stream. It connects again when the connection breaks.

const retryAfter = 1000;

/**
 * Calls `receive` with `{kind: "up"}`, `{kind: "down", refused}`, and with the server's events:
 * `{kind: "tables", data}` and `{kind: "change", data}`.
 */
export class EventStream {
  #receive;
  #isUp;

  constructor(receive) {
    this.#receive = receive;
    this.#connect();
  }

  /** Tells the present state to a page that connects later. */
  get state() {
    return this.#isUp === false ? { kind: "down", refused: false } : { kind: "up" };
  }

  #connect() {
    const source = new EventSource("/api/events");
    source.onopen = () => {
      this.#isUp = true;
      this.#receive({ kind: "up" });
    };
    for (const kind of ["tables", "change"]) {
      source.addEventListener(kind, (event) => this.#receive({ kind, data: JSON.parse(event.data) }));
    }
    source.onerror = () => {
      source.close();
      this.#wait();
    };
  }

  /** An event source does not say why it failed, so this asks the server. */
  async #wait() {
    this.#isUp = false;
    const response = await fetch("/api/store").catch(() => null);
    this.#receive({ kind: "down", refused: response?.status === 403 });
    setTimeout(() => this.#connect(), retryAfter);
  }
}
