// Search, and a filter that shows mistakes at their place. A filter can be chosen from the values of a column.

import { button, element, icon, labelled, openDialog } from "./dom.js";
import { isCut, isRanged, lineOf, parsed, storedDate, typeOf, zoneName } from "./values.js";

const pause = 250;

export class FilterBar {
  #table;
  #onChange;
  #timer = 0;
  #asked = 0;
  #help = element("div", { class: "filter-help", id: "filter-help", hidden: true });

  /** `onChange({where, search})` is called when the query has changed and is valid. */
  constructor(table, onChange) {
    this.#table = table;
    this.#onChange = onChange;
    this.search = element("input", {
      class: "input", type: "search", placeholder: "Search", "aria-label": "Search in all fields",
      oninput: () => this.#later(() => this.#apply()),
    });
    this.where = element("input", {
      class: "input code", placeholder: "Filter", "aria-label": "Filter",
      autocomplete: "off", spellcheck: false, "aria-describedby": "filter-problem",
      oninput: () => this.#typed(), onscroll: () => this.#follow(), onkeydown: (event) => this.#key(event),
    });
    this.mirror = element("div", { class: "filter-mirror code", dir: "auto", "aria-hidden": "true" });
    this.problem = element("p", { class: "filter-problem problem", id: "filter-problem", role: "alert" });
    this.helpButton = button("Help for filters", {
      shape: "help", kind: "is-quiet is-icon", onclick: () => this.#toggleHelp(),
      "aria-expanded": "false", "aria-controls": "filter-help",
    });
    this.node = element(
      "div",
      { class: "filter-bar", role: "search" },
      element("div", { class: "search-field" }, icon("search"), this.search),
      element("div", { class: "filter-field" }, icon("filter"),
        element("div", { class: "filter-input" }, this.where, this.mirror), this.helpButton),
      this.problem, this.#help);
  }

  get query() {
    return { where: this.where.value.trim(), search: this.search.value.trim() };
  }

  /** An example of a filter for a table with these columns. */
  showExample(columns) {
    const { name } = columns.find(({ type }) => type === "string") ?? {};
    this.where.placeholder = name ? `Filter, such as ${name} CONTAINS "a"` : "Filter";
  }

  /** Adds a condition to the filter. */
  narrow(condition) {
    const { where } = this.query;
    const rest = /\bOR\b/i.test(where) ? `(${where})` : where;
    this.where.value = where === "" ? condition : `${rest} AND ${condition}`;
    this.#mark(null);
    this.#check();
  }

  clear() {
    this.where.value = this.search.value = "";
    this.#mark(null);
    this.#apply();
  }

  #typed() {
    this.#mark(null);
    this.#later(() => this.#check());
  }

  #key(event) {
    if (event.key === "Enter") this.#later(() => this.#check(), 0);
    else if (event.key === "Escape" && this.where.value !== "") {
      this.where.value = "";
      this.#typed();
    }
  }

  #later(run, delay = pause) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(run, delay);
  }

  async #check() {
    const { where } = this.query;
    const asked = ++this.#asked;
    try {
      const { unknown = [] } = where === "" ? {} : await this.#table.predicate(where);
      if (asked !== this.#asked) return;
      this.#apply();
      this.#mark(unknown.length > 0 ? unknownField(unknown[0], where) : null);
    } catch (error) {
      if (asked !== this.#asked) return;
      this.#mark(error.name === "AbortError" ? null : error);
      if (error.name === "AbortError") this.problem.textContent = "Stopped. Press Enter to apply the filter.";
    }
  }

  #apply() {
    this.#onChange(this.query);
  }

  /** Underlines the place of an error. Positions count from the first character that is not a space. */
  #mark(error) {
    this.problem.textContent = error?.message ?? "";
    this.where.toggleAttribute("aria-invalid", Boolean(error));
    this.mirror.replaceChildren();
    if (!error?.position) return;
    const text = this.where.value;
    const indent = text.length - text.trimStart().length;
    const start = error.position[0] + indent;
    const end = Math.max(error.position[1] + indent, start + 1);
    const mark = element("mark", { textContent: text.slice(start, end) || " " });
    this.mirror.append(text.slice(0, start), mark, text.slice(end));
    this.#follow();
  }

  #follow() {
    this.mirror.scrollLeft = this.where.scrollLeft;
  }

  async #toggleHelp() {
    this.#help.hidden = !this.#help.hidden;
    this.helpButton.setAttribute("aria-expanded", String(!this.#help.hidden));
    if (this.#help.hidden || this.#help.firstChild) return;
    const { fields, words } = await this.#table.predicateHelp();
    this.#help.replaceChildren(...this.#helpParts(fields, words));
  }

  #helpParts(fields, words) {
    const insert = (text) => element("button", {
      type: "button", class: "chip code", dir: "auto", textContent: text, onclick: () => this.#insert(text),
    });
    return [
      element("p", {
        textContent: "A filter compares fields with values. Quote text and dates. Click a word to use it.",
      }),
      element("p", {
        textContent: `A date is in your time zone, ${zoneName}, unless you write another: '2026-11-30 12:00Z' or `
          + "'2026-11-30 12:00+01:00'. The search takes such times, too.",
      }),
      element("h3", { textContent: "Fields" }), element("div", { class: "chips" }, ...fields.map(insert)),
      element("h3", { textContent: "Words" }), element("div", { class: "chips" }, ...words.map(insert)),
    ];
  }

  #insert(text) {
    const { selectionStart, selectionEnd } = this.where;
    const before = this.where.value.slice(0, selectionStart);
    const space = before === "" || /[\s(]$/.test(before) ? "" : " ";
    this.where.setRangeText(`${space}${text} `, selectionStart, selectionEnd, "end");
    this.where.focus();
    this.#typed();
  }
}

/** A field that no record has is not an error in the filter, but it is hardly what the person meant. */
function unknownField({ name, nearest }, where) {
  const start = where.indexOf(name);
  return {
    message: `No record has a field ${name}.${nearest ? ` Did you mean ${nearest}?` : ""}`,
    position: start < 0 ? null : [start, start + name.length],
  };
}

// A filter by the values of a column.

const mostShown = 40;
const moreValues = "There are more values. Write the others into the filter.";
const noValues = "These values cannot be chosen here. Write a condition into the filter.";

/** Asks for values or a range, and writes the predicate into the filter. */
export async function askForFilter(column, view) {
  const { values, complete } = await view.table.values(column.name).catch(() => ({ values: [], complete: true }));
  const hasRange = isRanged(column.type);
  const simple = values.filter(
    ({ value }) => ["string", "integer", "float", "bool"].includes(typeOf(value)) && !isCut(value));
  if (hasRange) simple.sort((one, other) => Number(lineOf(one.value)) - Number(lineOf(other.value)));
  const boxes = simple.slice(0, mostShown).map(({ value, count }) => ({
    value, count, node: element("input", { type: "checkbox" }),
  }));
  const list = boxes.map(({ node, value, count }) => element("label", { class: "check" }, node,
    element("span", { class: "check-text", dir: "auto", textContent: lineOf(value) }),
    element("span", { class: "count", textContent: String(count) })));
  const [from, to] = ["From", "Up to"].map((label) => ({
    label, node: element("input", { class: "input", autocomplete: "off" }),
  }));
  const isAll = simple.length === values.length && simple.length <= mostShown && complete;
  const rest = isAll || column.type === "date"
    ? [] : [element("p", { class: "note", textContent: list.length > 0 ? moreValues : noValues })];
  const text = await openDialog({
    title: `Filter by ${column.title ?? column.name}`,
    content: () => [
      ...(hasRange ? [from, to].map(({ label, node }) => labelled(label, node)) : []),
      ...(list.length > 0 ? [element("fieldset", { class: "checks" },
        element("legend", { class: "note", textContent: "These values" }), ...list)] : []),
      ...rest],
    actions: [{
      label: "Filter",
      run: () => {
        const chosen = boxes.filter(({ node }) => node.checked).map(({ value }) => value);
        if (chosen.length > 0) return condition(column.name, chosen);
        const range = rangeCondition(column.name, lowest(from.node, column), highest(to.node, column));
        if (range === "") throw new Error("Choose a value, or write a range.");
        return range;
      },
    }],
  });
  if (text !== undefined) view.filter.narrow(text);
}

const lowest = (input, column) => {
  const value = bound(input, column);
  return value && `>= ${value}`;
};

/** A day without a time is in the range as a whole. */
const highest = (input, column) => {
  const value = bound(input, column);
  const day = column.type === "date" && /^(\d{4})-(\d\d)-(\d\d)$/.exec(input.value.trim());
  if (!day) return value && `<= ${value}`;
  const next = new Date(Date.UTC(Number(day[1]), Number(day[2]) - 1, Number(day[3]) + 1));
  return `< ${JSON.stringify(next.toISOString().slice(0, 10))}`;
};

/** What a range ends with, as the filter writes it; undefined if it is open. */
function bound({ value }, { type }) {
  const text = value.trim();
  if (text === "") return undefined;
  if (type !== "date") return lineOf(parsed(text, type));
  storedDate(text);  // Throws if it is no date.
  return JSON.stringify(text);
}

// Conditions, as the language of filters writes them

const isWord = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Words of the language, and names that mean something else. */
const reserved = new Set(["and", "or", "not", "in", "like", "matches", "contains", "beginswith", "endswith", "between",
  "any", "some", "all", "none", "true", "false", "yes", "no", "null", "nil", "now", "today", "is", "id", "recordid",
  "fields", "truepredicate", "falsepredicate", "first", "last", "date", "data", "real"]);

const quoted = (text) => `"${text.replace(/[\\"]/g, "\\$&").replace(/[\n\r\t\u0000-\u001f]/g, escaped)}"`;
const escaped = (character) => `\\u{${character.charCodeAt(0).toString(16)}}`;

const fieldText = (name) => (isWord.test(name) && !reserved.has(name.toLowerCase()) ? name : `#${quoted(name)}`);

/** A text, a number or a Boolean. */
const literal = (value) =>
  (typeof value === "boolean" ? (value ? "TRUE" : "FALSE") : typeof value === "string" ? quoted(value) : lineOf(value));

/** The condition that a field has one of these values. */
function condition(name, values) {
  const literals = values.map(literal);
  const field = fieldText(name);
  return literals.length === 1 ? `${field} = ${literals[0]}` : `${field} IN {${literals.join(", ")}}`;
}

/** The condition that a field is in a range: conditions such as `<= 5`, as far as they are not undefined. */
const rangeCondition = (name, ...ends) =>
  ends.filter((end) => end !== undefined).map((end) => `${fieldText(name)} ${end}`).join(" AND ");
