// Holds the only event stream for all tabs, because a browser allows just six connections to a host. Its name is the
// token that it sends.

import { EventStream } from "./event-stream.js";

const ports = new Set();
let stream;

onconnect = ({ ports: [port] }) => {
  ports.add(port);
  port.onmessage = () => ports.delete(port);
  if (stream) port.postMessage(stream.state);
  stream ??= new EventStream(self.name, (event) => {
    for (const each of ports) each.postMessage(event);
  });
};
