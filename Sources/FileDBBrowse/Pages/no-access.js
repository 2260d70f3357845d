// What a tab shows that was not let in.

import { element } from "./dom.js";

export const noAccess = () =>
  element(
    "main", { class: "empty no-access" },
    element("h1", { class: "title", textContent: "This tab has no access to the store" }),
    element("p", { textContent: "The address that “filedb browse” prints works once, in one tab." }),
    element("p", { textContent: "For a second tab, duplicate the first one: its context menu says “Duplicate”." }),
    element("p", { textContent: "If there is none any more, end the command and start it again." }));
