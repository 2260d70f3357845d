import { Api } from "./api.js";
import { App } from "./app.js";
import { listen } from "./events.js";

const app = new App(document.getElementById("app"), new Api());
app.start();
listen((event) => app.receive(event));
