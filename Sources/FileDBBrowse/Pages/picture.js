// Pictures from the server. An element that loads them by itself could not send the token.

import { element } from "./dom.js";

/** A picture. `read` returns a promise of its bytes, as a Blob. */
export function picture(read, alt) {
  const node = element("img", { alt });
  read().then((bytes) => {
    const address = URL.createObjectURL(bytes);
    node.onload = node.onerror = () => URL.revokeObjectURL(address);
    node.src = address;
  }, () => {});  // Then its description is shown.
  return node;
}
