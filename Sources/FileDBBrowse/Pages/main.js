import { Api } from "./api.js";
import { App } from "./app.js";
import { fetchSooner, forgetEarly } from "./early.js";
import { listen } from "./events.js";

const app = new App(document.getElementById("app"), new Api(fetchSooner));
await app.start();
forgetEarly();
// After the first event, the page reads again what has changed since the early answers.
listen((event) => app.receive(event));
