// What a tab shows that was not let in.

import { Api } from "./api.js";
import { App } from "./app.js";
import { element } from "./dom.js";
import { fetchSooner, forgetEarly, token } from "./early.js";
import { listen } from "./events.js";

export const noAccess = () =>
  element(
    "main", { class: "empty no-access" },
    element("h1", { class: "title", textContent: "This tab has no access to the store" }),
    element("p", { textContent: "The address that “filedb browse” prints works once, in one tab." }),
    element("p", { textContent: "For a second tab, duplicate the first one: its context menu says “Duplicate”." }),
    element("p", { textContent: "If there is none any more, end the command and start it again." }));

const root = document.getElementById("app");
const own = await token;

async function start() {
  const app = new App(root, new Api(fetchSooner));
  await app.start();
  forgetEarly();
  // After the first event, the page reads again what has changed since the early answers.
  listen(own, (event) => app.receive(event));
}

if (own === null) root.replaceChildren(noAccess());
else await start();
