// The server's events. They come through a worker that all tabs share, if the browser has such workers.

import { EventStream } from "./event-stream.js";

/** Calls `receive` for each event, see EventStream. */
export function listen(receive) {
  if (!("SharedWorker" in globalThis)) {
    new EventStream(receive);
    return;
  }
  const address = new URL("./events-worker.js", import.meta.url);
  const { port } = new SharedWorker(address, { type: "module", name: "filedb-events" });
  port.onmessage = ({ data }) => receive(data);
  addEventListener("pagehide", (event) => {
    if (!event.persisted) port.postMessage("leave");
  });
}
