// The page for a table that cannot be read: what is wrong with its file, and a button to repair it.

import { button, element, icon } from "./dom.js";

/** `isReadOnly` hides the repair. `onRepaired(report)` is called after it. */
export function brokenTable(table, message, { isReadOnly, onRepaired, onFailure }) {
  const problems = element("ul", { class: "problems" });
  const report = element("pre", {
    class: "report code", hidden: true, tabIndex: 0, "aria-label": "What a repair would do",
  });
  const apply = button("Repair it now", { shape: "check", kind: "is-primary", hidden: true });
  const preview = button("Show what a repair would do", { shape: "search", kind: "is-primary" });
  const attempt = (run) => async () => {
    try {
      await run();
    } catch (error) {
      onFailure(error);
    }
  };
  preview.addEventListener("click", attempt(async () => {
    report.textContent = (await table.repair(false)).report;
    report.hidden = apply.hidden = false;
    preview.hidden = true;
    apply.focus();
  }));
  apply.addEventListener("click", attempt(async () => {
    onRepaired((await table.repair(true)).report);
  }));
  attempt(async () => problems.replaceChildren(...(await table.check()).problems.map(problemItem)))();
  return element(
    "section",
    { class: "broken", "aria-label": `The table ${table.name} cannot be read` },
    element("h2", {}, icon("warning"), `${table.name} cannot be read`),
    element("p", { textContent: message }),
    element("h3", { textContent: "What the check found" }),
    problems,
    element("p", { class: "note", textContent: isReadOnly
      ? "This page is read-only. To repair the table, run filedb browse without --read-only."
      : "Nothing is lost: the file stays as it is until you repair it or correct it in an editor. A repair keeps a copy "
        + "of the file as it was. The repair cannot be undone." }),
    report,
    element("div", { class: "buttons" }, ...(isReadOnly ? [] : [preview, apply])));
}

function problemItem({ message, line }) {
  const place = element("span", { class: "line-number", textContent: `line ${line}` });
  return element("li", {}, line ? place : null, element("span", { textContent: message }));
}
