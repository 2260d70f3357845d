import { Api } from "./api.js";
import { App } from "./app.js";
import { fetchSooner, forgetEarly } from "./early.js";
import { listen } from "./events.js";

const app = new App(document.getElementById("app"), new Api(fetchSooner));
await app.start();
forgetEarly();
// What changed since, the first event has read anew.
listen((event) => app.receive(event));
