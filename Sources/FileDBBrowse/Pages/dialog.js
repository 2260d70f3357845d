// Dialogs. They are the browser's own, which keep the focus inside and close with Escape.

import { button, element, uniqueId } from "./dom.js";

/**
 * Shows a dialog and returns its result; undefined if it was cancelled.
 *
 * `content(close)` makes its elements. `actions` are its buttons: `{label, kind, run}`. `run` returns the result, or
 * throws an error, which is shown while the dialog stays open. `kind` is "" or "is-sheet".
 */
export function openDialog({ title, kind = "", content, actions = [], cancel = "Cancel" }) {
  return new Promise((resolve) => {
    const heading = element("h2", { id: uniqueId("dialog"), textContent: title });
    const problem = element("p", { class: "problem", role: "alert" });
    const dialog = element("dialog", { class: `dialog ${kind}`, "aria-labelledby": heading.id });
    let result;
    const close = (value) => {
      result = value;
      dialog.close();
    };
    const attempt = async (run) => {
      problem.textContent = "";
      try {
        close(await run());
      } catch (error) {
        problem.textContent = error.message;
      }
    };
    const [first] = actions;
    const form = element(
      "form",
      {
        onsubmit: (event) => {
          event.preventDefault();
          if (first) attempt(first.run);
        },
        onkeydown: submitFromField,
      },
      element("header", {}, heading,
        button("Close", { shape: "close", kind: "is-quiet is-icon", onclick: () => close() })),
      element("div", { class: "dialog-content" }, ...content(close)),
      problem,
      element("footer", {}, ...footer(actions, attempt, cancel, close)));
    dialog.append(form);
    if (kind === "is-sheet") keepTyped(dialog, problem);
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(result);
    });
    document.body.append(dialog);
    dialog.showModal();
    dialog.querySelector("[data-first]")?.focus();
  });
}

/** Escape does not discard what was typed, unless it is pressed twice. */
function keepTyped(dialog, problem) {
  let isKept = false;
  dialog.addEventListener("input", () => (isKept = true));
  dialog.addEventListener("cancel", (event) => {
    if (!isKept) return;
    isKept = false;
    event.preventDefault();
    problem.textContent = "Press Escape again to leave without your changes.";
  });
}

/** Enter presses the first button. In a list of choices it does so, too, and in a long text together with Ctrl. */
function submitFromField(event) {
  const { target, key, ctrlKey, metaKey, currentTarget } = event;
  if (key !== "Enter" || !(target.matches("select") || ctrlKey || metaKey)) return;
  event.preventDefault();
  currentTarget.requestSubmit();
}

function footer(actions, attempt, cancel, close) {
  const buttons = actions.map(({ label, kind = "", run }, index) =>
    index === 0
      ? button(label, { type: "submit", kind: kind || "is-primary" })
      : button(label, { kind, onclick: () => attempt(run) }));
  return [button(cancel, { kind: "is-quiet", onclick: () => close() }), ...buttons.reverse()];
}

/** A label and the field that it belongs to. */
export function labelled(label, control, hint) {
  control.id ||= uniqueId("field");
  return element(
    "div",
    { class: "field" },
    element("label", { for: control.id, textContent: label }),
    control,
    hint ? element("span", { class: "note", textContent: hint }) : null);
}
