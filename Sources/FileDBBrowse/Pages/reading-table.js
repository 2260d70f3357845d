// The page for a large table that the server is reading for the first time.

import { element } from "./dom.js";
import { sizeText } from "./values.js";

/** `bytes` is the size of the table's file. */
export const readingTable = (name, bytes) => element(
  "section",
  { class: "empty is-reading", role: "status" },
  element("h2", { textContent: `Reading ${name}` }),
  element("p", {
    textContent: `Its file has ${sizeText(bytes)}, so reading it takes some seconds. Then the records appear.`,
  }),
  element("progress", { "aria-label": "Reading" }));
