// The server's events. They come through a worker that all tabs share, if the browser has such workers.

import { EventStream } from "./event-stream.js";

/** Calls `receive` for each event, see EventStream. */
export function listen(token, receive) {
  if (!("SharedWorker" in globalThis)) {
    new EventStream(token, receive);
    return;
  }
  const address = new URL("./events-worker.js", import.meta.url);
  // The worker gets the token as its name. So only tabs with the same token share it.
  const { port } = new SharedWorker(address, { type: "module", name: token });
  port.onmessage = ({ data }) => receive(data);
  addEventListener("pagehide", (event) => {
    if (!event.persisted) port.postMessage("leave");
  });
}
