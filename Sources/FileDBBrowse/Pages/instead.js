// The pages in place of records: for a table that cannot be read, with what a repair would keep, and for a large table
// that the server is still reading.

import { button, counted, element, icon } from "./dom.js";
import { sizeText } from "./values.js";

/** `isReadOnly` hides the repair. `onRepaired(outcome)` is called after it. */
export function brokenTable(table, message, { isReadOnly, onRepaired, onFailure }) {
  const problems = element("ul", { class: "problems" });
  const outcome = element("p", { class: "outcome", role: "status" });
  const report = element("ul", { class: "report", hidden: true, tabIndex: 0, "aria-label": "What a repair does" });
  const apply = button("Repair it now", {
    shape: "check", kind: "is-primary", hidden: true,
    onclick: () => table.repair(true).then(onRepaired).catch(onFailure),
  });
  table.check().then(({ problems: found }) => problems.replaceChildren(...found.map(problemItem)), onFailure);
  if (!isReadOnly) {
    table.repair(false).then((plan) => {
      outcome.textContent = outcomeText(plan);
      report.replaceChildren(...plan.notes.map((each) => element("li", { textContent: each })));
      report.hidden = plan.notes.length === 0;
      apply.hidden = false;
    }, (error) => (outcome.textContent = `A repair is not possible here: ${error.message}`));
  }
  return element(
    "section",
    { class: "broken", "aria-label": `The table ${table.name} cannot be read` },
    element("h2", {}, icon("warning"), `${table.name} cannot be read`),
    element("p", { textContent: message }),
    element("h3", { textContent: "What the check found" }),
    problems,
    element("h3", { textContent: "What a repair does" }),
    isReadOnly
      ? element("p", { class: "note", textContent: "This page is read-only. To repair the table, run filedb browse "
        + "without --read-only." })
      : outcome,
    report,
    element("p", { class: "note", hidden: isReadOnly, textContent: "The file stays as it is until you repair it, or "
      + "correct it in an editor. A repair keeps a copy of it in .filedb/backups. It cannot be undone." }),
    element("div", { class: "buttons" }, apply));
}

/** What stays and what goes. */
function outcomeText({ kept, lost, notes }) {
  if (notes.length === 0 && lost === 0) return "There is nothing to repair.";
  const stays = kept === null ? "" : `${counted(kept, "record")} ${kept === 1 ? "stays" : "stay"}. `;
  if (lost === 0) return `${stays}Nothing is lost.`;
  const pieces = counted(lost, "piece");
  return `${stays}${pieces} of the file cannot be read and ${lost === 1 ? "goes" : "go"}: only the copy keeps `
    + `${lost === 1 ? "it" : "them"}.`;
}

function problemItem({ message, line }) {
  const place = element("span", { class: "line-number", textContent: `line ${line}` });
  return element("li", {}, line ? place : null, element("span", { textContent: message }));
}

/** `bytes` is the size of the table's file. */
export const readingTable = (name, bytes) => element(
  "section",
  { class: "empty is-reading", role: "status" },
  element("h2", { textContent: `Reading ${name}` }),
  element("p", {
    textContent: `Its file has ${sizeText(bytes)}, so reading it takes some seconds. Then the records appear.`,
  }),
  element("progress", { "aria-label": "Reading" }));
