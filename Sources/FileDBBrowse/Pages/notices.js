// Short messages at the lower edge, which screen readers read aloud, and the line about a lost connection.

import { button, element, icon } from "./dom.js";

const shownFor = 7000;
const mostShown = 3;

export class Notices {
  node = element("div", { class: "notices", role: "status", "aria-live": "polite" });
  banner = element("div", { class: "banner", role: "alert", hidden: true });

  /** `action` is `{label, run}`, a button beside the text. */
  say(text, action) {
    this.#show(text, "", action);
  }

  fail(error) {
    this.#show(error.message, "is-problem");
  }

  #show(text, kind, action) {
    const notice = element("div", { class: `notice ${kind}` }, element("span", { textContent: text }));
    const remove = () => notice.remove();
    if (action) {
      notice.append(button(action.label, {
        kind: "is-small is-quiet",
        onclick: () => {
          remove();
          action.run();
        },
      }));
    }
    notice.append(button("Dismiss", { shape: "close", kind: "is-quiet is-icon", onclick: remove }));
    this.node.append(notice);
    if (this.node.children.length > mostShown) this.node.firstChild.remove();
    setTimeout(remove, shownFor);
  }

  /** Shows a line above everything else until `hideBanner`. */
  showBanner(text) {
    this.banner.replaceChildren(icon("warning"), element("span", { textContent: text }));
    this.banner.hidden = false;
  }

  hideBanner() {
    this.banner.hidden = true;
  }
}
