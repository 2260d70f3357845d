// The server of filedb browse, as far as its pages can tell, in memory.

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export const sampleValues = [
  "A line of text",
  true,
  { integer: "9007199254740993" },
  { float: "0.1" },
  { date: "2010-03-04T05:06:07Z" },
  { data: png },
  { array: ["one", { integer: "2" }] },
  { dictionary: [["street", "Main Street 5"], ["rooms", { array: [{ integer: "3" }] }]] },
];

class Refusal extends Error {
  constructor(status, code, message, more = {}) {
    super(message);
    Object.assign(this, { status, code, more });
  }
}

export class FakeServer {
  onEvent = () => {};
  #tables = new Map([["food", foodTable()], ["empty", table([])], ["large", largeTable()]]);
  #undone = [];
  #done = [];
  #lastStep = 0;
  #unread = new Set(["large"]);
  #shared = null;

  /** From now on, no table is being read for the first time. */
  finishReading() {
    this.#unread.clear();
    this.onEvent({ kind: "tables", data: this.#store() });
  }

  /** From now on, the folder follows a shared store. */
  share(shared) {
    this.#shared = shared;
    this.onEvent({ kind: "tables", data: this.#store() });
  }

  async answer(path, { method = "GET", body } = {}) {
    const address = new URL(path, location.origin);
    try {
      const [, , ...route] = address.pathname.split("/").map(decodeURIComponent);
      const query = Object.fromEntries(address.searchParams);
      const result = method === "GET" ? this.#get(route, query) : this.#post(route, JSON.parse(body));
      return new Response(typeof result === "string" ? result : JSON.stringify(result));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { status, code, message, more } = error;
      return new Response(JSON.stringify({ error: { code, message, ...more } }), { status });
    }
  }

  #get([group, name, route], query) {
    if (group === "store") return this.#store();
    if (group === "predicate") return predicate(query.where);
    const { columns, records, version } = this.#table(name);
    const list = matching(records, query);
    const [from, count] = [Number(query.from), Number(query.count)];
    const problem = name === "broken" ? { message: "The file is damaged.", line: 12 } : null;
    const reading = this.#reading(name);
    switch (route) {
      case undefined: return { name, count: records.length, columns, schema: false, problem, ...reading };
      case "records":
        if (reading) refuse(503, "beingRead", "The table is being read for the first time.");
        return { version: String(version), total: list.length, from, records: list.slice(from, from + count) };
      case "place": return { place: nullIfMissing(list.findIndex(({ id }) => id === query.id)) };
      case "record": return found(records, query.id);
      case "check": return { problems: [{ message: "Record 3 has no id.", line: 12 }] };
    }
  }

  #post([group, name, verb], body) {
    if (group === "undo") return this.#swap(this.#done, this.#undone, body.step);
    if (group === "redo") return this.#swap(this.#undone, this.#done, body.step);
    if (verb === "repair") return { notes: ["Record 3 gets the id 14."], before: 15, kept: 13, lost: 2, backups: [] };
    if (verb === "present") return { ids: body.ids.filter((id) => this.#table(name).records.some((each) => each.id === id)) };
    const step = String(++this.#lastStep);
    this.#done.push({ step, name: `${verb} in ${name}`, table: name, records: this.#table(name).records.slice() });
    this.#undone = [];
    const result = this.#change(this.#table(name), verb, body);
    this.#tell(name);
    return { ...result, step };
  }

  #change(table, verb, { ids, to, at, records, id, fields, expected }) {
    table.version++;
    switch (verb) {
      case "add": return { ids: insert(table, records, at) };
      case "duplicate":
        return { ids: insert(table, ids.map((each) => found(table.records, each)), { after: ids.at(-1) }) };
      case "delete": table.records = table.records.filter((each) => !ids.includes(each.id)); return {};
      case "move": return move(table, ids, to);
      case "set": return set(table, id, fields, expected);
      default: throw new Refusal(400, "unknown", "The fake server does not know this verb.");
    }
  }

  #swap(from, to, id) {
    const [step] = from.splice(from.findIndex((each) => each.step === id), 1);
    const table = this.#table(step.table);
    const back = { ...step, step: String(++this.#lastStep), records: table.records };
    to.push(back);
    table.records = step.records;
    table.version++;
    this.#tell(step.table);
    return { step: back.step, name: back.name };
  }

  #tell(name) {
    const { version, records } = this.#table(name);
    this.onEvent({ kind: "tables", data: this.#store() });
    const data = { table: name, version: String(version), count: records.length, ids: null, origin: "here" };
    this.onEvent({ kind: "change", data });
  }

  #store() {
    const overview = ([name, { records }]) =>
      ({ name, count: records.length, problem: null, attached: false, ...this.#reading(name) });
    const tables = [...this.#tables].map(overview);
    return {
      name: "sample", path: "/home/ada/sample", readOnly: false, tables, copies: [],
      shared: this.#shared,
      undo: this.#done.map(({ step, name }) => ({ step, name })).reverse(),
      redo: this.#undone.map(({ step, name }) => ({ step, name })).reverse(),
    };
  }

  #reading(name) {
    return this.#unread.has(name) ? { reading: 222_445_889 } : undefined;
  }

  #table(name) {
    if (name === "broken") return table([]);
    return this.#tables.get(name) ?? refuse(404, "tableNotFound", `There is no table ${name}.`);
  }
}

function refuse(...reason) {
  throw new Refusal(...reason);
}

function table(records, columns = [{ name: "name", type: "string" }]) {
  return { version: 1, lastId: records.length, columns, records };
}

function foodTable() {
  const names = ["Brown rice", "Feta", "Lentils", "Honey", "Oats", "Pear", "Quince", "Tofu", "Walnuts", "Yoghurt"];
  const records = Array.from({ length: 60 }, (_, index) => ({
    id: String(index + 1),
    fields: [
      ["name", names[index % 10]],
      ["kcal", { integer: String(40 + index * 7) }],
      ["bought", { date: "2026-11-03T17:20:00Z" }],
      ["vegan", index % 3 === 0],
      ["photo", { bytes: 70, media: null }],
    ],
  }));
  const types = { name: "string", kcal: "integer", bought: "date", vegan: "bool", photo: "data" };
  return table(records, Object.entries(types).map(([name, type]) => ({ name, type })));
}

function largeTable() {
  const record = (_, index) => ({ id: String(index + 1), fields: [["name", `Record ${index + 1}`]] });
  return table(Array.from({ length: 1_000_000 }, record));
}

const nullIfMissing = (index) => (index < 0 ? null : index);
const found = (records, id) =>
  records.find((each) => each.id === id) ?? refuse(404, "recordNotFound", `There is no record ${id}.`);
const textOf = (record) => JSON.stringify(record.fields).toLowerCase();

function matching(records, { search, sort }) {
  const matches = search ? records.filter((record) => textOf(record).includes(search.toLowerCase())) : records;
  if (!sort) return matches;
  const key = (record) => JSON.stringify(record.fields.find(([name]) => name === sort.replace(/^-/, ""))?.[1] ?? "");
  const sign = sort.startsWith("-") ? -1 : 1;
  return matches.toSorted((one, other) => sign * key(one).localeCompare(key(other), "en", { numeric: true }));
}

function predicate(where) {
  if (where === undefined) return { fields: ["name", "kcal", "vegan"], words: ["==", "<", "AND", "OR", "CONTAINS"] };
  const start = where.indexOf("kcl");
  const position = [start, start + 3];
  if (start >= 0) refuse(422, "badPredicate", "There is no field kcl. Did you mean kcal?", { position });
  return { ok: true };
}

function insert(table, records, at) {
  const added = records.map(({ fields }) => ({ id: String(++table.lastId), fields }));
  table.records = table.records.toSpliced(placeOf(table.records, at), 0, ...added);
  return added.map(({ id }) => id);
}

function placeOf(records, { start, before, after, place }) {
  if (start) return 0;
  if (place !== undefined) return place;
  if (before !== undefined) return records.findIndex(({ id }) => id === before);
  if (after !== undefined) return records.findIndex(({ id }) => id === after) + 1;
  return records.length;
}

function move(table, ids, to) {
  const moved = ids.map((id) => found(table.records, id));
  const rest = table.records.filter(({ id }) => !ids.includes(id));
  table.records = rest.toSpliced(placeOf(rest, to), 0, ...moved);
  return {};
}

function set(table, id, fields, expected) {
  const record = found(table.records, id);
  const value = (name) => record.fields.find(([each]) => each === name)?.[1] ?? null;
  const isAsExpected = ([name, before]) => JSON.stringify(value(name)) === JSON.stringify(before);
  if (!expected.every(isAsExpected)) refuse(409, "changed", "Changed.");
  const kept = record.fields.map(([name, before]) => [name, fields.find(([each]) => each === name)?.[1] ?? before]);
  const added = fields.filter(([name]) => !record.fields.some(([each]) => each === name));
  const saved = { id, fields: [...kept, ...added] };
  table.records = table.records.map((each) => (each === record ? saved : each));
  return { record: saved };
}
