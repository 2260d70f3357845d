// Printing a table: all its records, with the head on each page. The grid has only the rows that are seen.

import { element } from "./dom.js";
import { field, lineOf } from "./values.js";

const mostRecords = 20_000;
const atOnce = 1000;

/** Prints the records that a view lists. Throws an Error if they are too many. */
export async function printTable({ list, grid, table }) {
  if (list.total > mostRecords) throw new Error("At most 20,000 records can be printed. Filter them, or export them.");
  const records = [];
  for (let from = 0; from < list.total; from += atOnce) {
    records.push(...await list.records(from, Math.min(list.total, from + atOnce) - 1));
  }
  const node = page(table.name, grid.columns, records);
  document.body.append(node);
  addEventListener("afterprint", () => node.remove(), { once: true });
  print();
}

function page(title, columns, records) {
  const heads = [{ name: "id" }, ...columns].map((column) =>
    element("th", { scope: "col", dir: "auto", textContent: column.title ?? column.name }));
  const lines = records.map((record) => element("tr", {}, element("td", { textContent: record.id }),
    ...columns.map(({ name }) => element("td", { dir: "auto", textContent: lineOf(field(record, name)) }))));
  return element("table", { class: "printed" },
    element("caption", { textContent: title }),
    element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...lines));
}
