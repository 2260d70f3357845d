// Builds elements, menus and dialogs. Text always becomes a text node, so that no value of a record is read as HTML.

/**
 * Makes an element. `properties` are DOM properties, except: `class`, `data` (an object), names that begin with
 * `aria-` or are in `attributes`, and `on…` (an event handler).
 */
export function element(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  if (ofPeople.has(tag)) node.dir = "auto";
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (name === "class") node.className = value;
    else if (name === "data") Object.assign(node.dataset, value);
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name.startsWith("aria-") || attributes.has(name)) node.setAttribute(name, value);
    else node[name] = value;
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** What shows or takes values. Each is written in the direction of its first letter. */
const ofPeople = new Set(["input", "textarea", "option", "td", "th"]);

const attributes = new Set(["role", "dir", "for", "list", "popover", "popovertarget", "colspan"]);

const shapes = {
  add: "M8 3v10M3 8h10",
  check: "M3 8.5l3.2 3.2L13 5",
  close: "M4 4l8 8M12 4l-8 8",
  copy: "M6 6h7v7H6zM10 6V3H3v7h3",
  down: "M8 3v10M4 9l4 4 4-4",
  download: "M8 2.5v7.5M5 7l3 3 3-3M3 13.5h10",
  duplicate: "M6 6h7v7H6zM10 6V3H3v7h3M9.5 8v3M8 9.5h3",
  filter: "M2.5 4h11M4.5 8h7M6.5 12h3",
  grip: "M6 4h.01M10 4h.01M6 8h.01M10 8h.01M6 12h.01M10 12h.01",
  help: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M6.3 6.2a1.8 1.8 0 1 1 2.5 1.7c-.6.2-.8.5-.8 1.1M8 11.3h.01",
  keyboard: "M2 4.5h12v7H2zM4.5 7h.01M7 7h.01M9 7h.01M11.5 7h.01M5 9.5h6",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  columns: "M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10",
  more: "M4 6.5l4 4 4-4",
  calendar: "M2.5 4h11v9.5h-11zM2.5 7h11M5.5 2.5v3M10.5 2.5v3",
  print: "M4.5 6V2.5h7V6M4.5 11h-2V6h11v5h-2M4.5 9.5h7v4h-7z",
  move: "M8 2.5v11M5 5.5l3-3 3 3M5 10.5l3 3 3-3",
  open: "M9.5 2.5h4v4M13.5 2.5L8 8M11.5 9v4.5h-9v-9H7",
  redo: "M13 6.5H6a3.25 3.25 0 0 0 0 6.5h4M10 3.5l3 3-3 3",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9M10.3 10.3l3.2 3.2",
  sort: "M4.5 3v10M2.5 11l2 2 2-2M9 4h5M9 8h4M9 12h3",
  table: "M2.5 3h11v10h-11zM2.5 6.5h11M6.5 6.5V13",
  trash: "M3 4.5h10M6 4.5V3h4v1.5M4.5 4.5l.5 8.5h6l.5-8.5M7 7v3.5M9 7v3.5",
  undo: "M3 6.5h7a3.25 3.25 0 0 1 0 6.5H6M6 3.5l-3 3 3 3",
  up: "M8 13V3M4 7l4-4 4 4",
  warning: "M8 2.5l6 11H2zM8 7v3M8 11.8h.01",
};

/** A picture of 16 by 16 pixels that screen readers ignore. */
export function icon(name) {
  const namespace = "http://www.w3.org/2000/svg";
  const picture = document.createElementNS(namespace, "svg");
  picture.setAttribute("viewBox", "0 0 16 16");
  picture.setAttribute("class", "icon");
  picture.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(namespace, "path");
  path.setAttribute("d", shapes[name]);
  picture.append(path);
  return picture;
}

/** A button with a picture and a label. If there is no space for the label, it becomes the tooltip. */
export function button(label, { shape, kind = "", title, ...properties }) {
  return element(
    "button",
    { type: "button", class: `button ${kind}`, title: title ?? label, "aria-label": title ?? label, ...properties },
    shape ? icon(shape) : null,
    element("span", { class: "label", textContent: label }));
}

const counts = new Intl.NumberFormat("en");

/** 1234 records, 1 record. */
export function counted(count, singular, plural = `${singular}s`) {
  return `${counts.format(count)} ${count === 1 ? singular : plural}`;
}

export const grouped = (number) => counts.format(number);

let lastId = 0;

/** A unique id for a label or a list that belongs to one element. */
export const uniqueId = (prefix) => `${prefix}-${++lastId}`;

// Pictures from the server. An element that loads them by itself could not send the token.

/** A picture. `read` returns a promise of its bytes, as a Blob. */
export function picture(read, alt) {
  const node = element("img", { alt });
  read().then((bytes) => {
    const address = URL.createObjectURL(bytes);
    node.onload = node.onerror = () => URL.revokeObjectURL(address);
    node.src = address;
  }, () => {});  // Then its description is shown.
  return node;
}

/**
 * A button and the menu that it opens. `items()` makes the menu's items: `{label, run}`, for a choice with `isChecked`,
 * or null for a line between groups.
 */
export function menuButton(label, shape, items) {
  const node = button(label, { shape, "aria-haspopup": "menu", "aria-expanded": "false" });
  node.addEventListener("click", () => openMenu(node, label, items()));
  return [node];
}

/** Opens a menu below an element, which gets the focus back when the menu closes. */
export function openMenu(anchor, label, items) {
  const menu = element("div", { class: "menu", role: "menu", popover: "auto", "aria-label": label },
    ...items.map((item) => (item === null ? element("hr") : menuItem(item, () => menu.hidePopover()))));
  menu.addEventListener("keydown", (event) => goAbout(menu, event));
  menu.addEventListener("toggle", ({ newState }) => {
    anchor.setAttribute("aria-expanded", String(newState === "open"));
    if (newState === "open") return;
    if (menu.contains(document.activeElement) || document.activeElement === document.body) anchor.focus();
    menu.remove();
  });
  document.body.append(menu);
  menu.showPopover();
  const { left, bottom } = anchor.getBoundingClientRect();
  menu.style.left = `${Math.max(8, Math.min(left, innerWidth - menu.offsetWidth - 8))}px`;
  menu.style.top = `${Math.max(8, Math.min(bottom + 4, innerHeight - menu.offsetHeight - 8))}px`;
  menu.querySelector("button")?.focus();
}

function menuItem({ label, shape, isChecked, run }, close) {
  const isChoice = isChecked !== undefined;
  const mark = isChoice ? (isChecked ? icon("check") : element("span", { class: "icon" })) : shape ? icon(shape) : null;
  return element("button", {
    type: "button", class: "button is-quiet", role: isChoice ? "menuitemcheckbox" : "menuitem", tabIndex: -1,
    "aria-checked": isChoice ? String(isChecked) : undefined,
    onclick: () => {
      close();
      run();
    },
  }, mark, element("span", { class: "label", dir: "auto", textContent: label }));
}

/** The arrow keys lead from item to item, and Tab leaves the menu. */
function goAbout(menu, event) {
  const items = [...menu.querySelectorAll("button")];
  const index = items.indexOf(document.activeElement);
  const target = {
    ArrowDown: items[(index + 1) % items.length], ArrowUp: items.at(index - 1), Home: items[0], End: items.at(-1),
  }[event.key];
  if (event.key === "Tab") menu.hidePopover();
  if (!target) return;
  event.preventDefault();
  event.stopPropagation();
  target.focus();
}

// Dialogs. They are the browser's own, which keep the focus inside and close with Escape.

/**
 * Shows a dialog and returns its result; undefined if it was cancelled.
 *
 * `content(close)` makes its elements. `actions` are its buttons: `{label, kind, run}`. `run` returns the result, or
 * throws an error, which is shown while the dialog stays open. `kind` is "" or "is-sheet".
 */
export function openDialog({ title, kind = "", content, actions = [], cancel = "Cancel" }) {
  return new Promise((resolve) => {
    const heading = element("h2", { id: uniqueId("dialog"), dir: "auto", textContent: title });
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
