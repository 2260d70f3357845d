import { token } from "./access.js";
import { Api } from "./api.js";
import { App } from "./app.js";
import { fetchSooner, forgetEarly } from "./early.js";
import { listen } from "./events.js";
import { noAccess } from "./no-access.js";

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
