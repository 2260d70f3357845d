// The keys of the grid.

import { counted, element } from "./dom.js";
import { rowHeight } from "./grid.js";

/** `actions` are the actions on the table, see RecordActions. `editor` edits in place. */
export function handleKeys(grid, actions, editor) {
  grid.grid.addEventListener("keydown", (event) => {
    const run = meaning(event, grid, actions, editor);
    if (!run) return;
    event.preventDefault();
    event.stopPropagation();
    run();
  });
}

function meaning(event, grid, actions, editor) {
  if (event.ctrlKey || event.metaKey) return commandKey(event, grid, actions);
  if (event.altKey) return altKey(event, grid, actions);
  return plainKey(event, grid, actions, editor);
}

function commandKey(event, grid, actions) {
  const { column } = grid.focused;
  switch (event.key.toLowerCase()) {
    case "home": return () => grid.focusCell(0, 1);
    case "end": return () => grid.focusCell(grid.list.total - 1, grid.columns.length);
    case "arrowup": return () => grid.focusCell(0, column);
    case "arrowdown": return () => grid.focusCell(grid.list.total - 1, column);
    case "a": return actions.selectAll;
    case "d": return actions.duplicate;
    case "enter": return actions.add;
    default: return undefined;
  }
}

function altKey(event, grid, actions) {
  const { row, column } = grid.focused;
  if (row < 0) {
    switch (event.code) {
      case "ArrowDown": return () => actions.columnMenu(column);
      case "ArrowLeft": return () => actions.moveColumn(column, -1);
      case "ArrowRight": return () => actions.moveColumn(column, 1);
      default: return undefined;
    }
  }
  switch (event.code) {
    case "ArrowUp": return () => actions.moveBy(-1);
    case "ArrowDown": return () => actions.moveBy(1);
    case "KeyM": return actions.moveTo;
    default: return undefined;
  }
}

function plainKey(event, grid, actions, editor) {
  const { row, column } = grid.focused;
  if (row < 0 && (event.key === "Enter" || event.key === " ")) {
    return () => actions.sortByColumn(grid.columns[column - 1]?.name ?? "id", event.shiftKey ? "add" : "only");
  }
  if (row < 0 && event.shiftKey && event.key in widening) {
    return () => grid.resize(column, grid.widthOf(column) + widening[event.key]);
  }
  if (row < 0 && (event.key === "ContextMenu" || (event.shiftKey && event.key === "F10"))) {
    return () => actions.columnMenu(column);
  }
  const move = movement(event.key, grid);
  if (move) {
    return () => {
      if (event.shiftKey && move.row !== row && move.row >= 0) actions.extendSelection(move.row, row);
      grid.focusCell(move.row, move.column);
    };
  }
  switch (event.key) {
    case "Enter": return event.shiftKey || column === 0 ? actions.open : () => editor.edit();
    case "F2": return () => editor.edit();
    case " ": return actions.toggleSelection;
    case "Delete":
    case "Backspace": return column === 0 ? actions.remove : () => actions.emptyCell();
    case "Insert": return actions.add;
    case "Escape": return actions.escape;
    case "F1": return actions.help;
    default: return isTyped(event) && column > 0 ? () => editor.edit(event.key) : undefined;
  }
}

/** The keys in the head. Widths are in pixels. */
const widening = { ArrowLeft: -16, ArrowRight: 16 };

const isTyped = (event) => event.key.length === 1;

function movement(key, grid) {
  const { row, column } = grid.focused;
  switch (key) {
    case "ArrowUp": return { row: row - 1, column };
    case "ArrowDown": return { row: row + 1, column };
    case "ArrowLeft": return { row, column: column - 1 };
    case "ArrowRight": return { row, column: column + 1 };
    case "Home": return { row, column: 0 };
    case "End": return { row, column: grid.columns.length };
    case "PageUp": return { row: Math.max(0, row - grid.pageRows), column };
    case "PageDown": return { row: row + grid.pageRows, column };
    default: return undefined;
  }
}

// Clicks in the grid.

/** `actions` are the actions on the table, see RecordActions. `editor` edits in place. */
export function handlePointer(grid, actions, editor) {
  grid.grid.addEventListener("click", (event) => {
    const place = grid.placeOf(event.target);
    if (!place) return;
    const { row, column } = place;
    const wasFocused = grid.focused.row === row && grid.focused.column === column;
    const previous = grid.focused.row;
    grid.focusCell(row, column);
    if (event.target.closest(".head-menu")) actions.columnMenu(column);
    else if (event.target.closest(".box") && !event.shiftKey) editor.edit();
    else if (row < 0) actions.sortByColumn(grid.columns[column - 1]?.name ?? "id", event.shiftKey ? "add" : "only");
    else if (event.shiftKey) actions.extendSelection(row, previous);
    else if (event.ctrlKey || event.metaKey || event.target.closest(".tick")) actions.toggleSelection();
    // Fingers do not double-click: a second touch edits.
    else if (event.pointerType === "touch" && wasFocused && column > 0) editor.edit();
  });
  grid.grid.addEventListener("dblclick", (event) => {
    const place = grid.placeOf(event.target);
    // A click on a box has already changed it.
    if (!place || place.row < 0 || event.target.closest(".box")) return;
    if (place.column === 0) actions.open();
    else editor.edit();
  });
  grid.head.addEventListener("contextmenu", (event) => {
    const place = grid.placeOf(event.target);
    if (!place || place.column === 0) return;
    event.preventDefault();
    grid.focusCell(-1, place.column);
    actions.columnMenu(place.column);
  });
}

// Dragging records to another place with a mouse, a pen or a finger. Near an edge the rows scroll, faster and faster,
// so that even a million rows can be crossed.

const threshold = 4;
const edge = 48;

/**
 * `options`: `idsFor(row)` returns the ids that are dragged together with a row, or none if dragging is impossible;
 * `drop(ids, gap)` moves them above the row `gap`.
 */
export function allowDragging(grid, options) {
  grid.grid.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !event.target.closest(".grip")) return;
    event.preventDefault();
    const { row } = grid.placeOf(event.target);
    const ids = options.idsFor(row);
    if (ids.length > 0) new Drag(grid, event, ids, options.drop);
  });
}

class Drag {
  #grid;
  #ids;
  #drop;
  #start;
  #pointer;
  #line = element("div", { class: "drop-line" });
  #label;
  #hasMoved = false;
  #edgeSince = null;
  #frame = 0;
  #lastFrame = 0;
  #end = new AbortController();

  constructor(grid, event, ids, drop) {
    this.#grid = grid;
    this.#ids = ids;
    this.#drop = drop;
    this.#start = this.#pointer = { x: event.clientX, y: event.clientY };
    this.#label = element("div", { class: "drag-label", textContent: counted(ids.length, "record") });
    const on = (name, handler) => addEventListener(name, handler, { signal: this.#end.signal });
    on("pointermove", (move) => this.#move(move));
    on("pointerup", () => this.#finish());
    on("pointercancel", () => this.#cancel());
    // The Escape key only ends the drag.
    addEventListener("keydown", (key) => {
      if (key.key !== "Escape") return;
      key.stopPropagation();
      this.#cancel();
    }, { signal: this.#end.signal, capture: true });
  }

  #move(event) {
    this.#pointer = { x: event.clientX, y: event.clientY };
    const distance = Math.hypot(this.#pointer.x - this.#start.x, this.#pointer.y - this.#start.y);
    if (!this.#hasMoved && distance < threshold) return;
    if (!this.#hasMoved) this.#begin();
    this.#show();
  }

  #begin() {
    this.#hasMoved = true;
    this.#grid.node.classList.add("is-dragging");
    this.#grid.node.append(this.#line);
    document.body.append(this.#label);
    this.#grid.dim(this.#ids);
    this.#lastFrame = performance.now();
    const step = (time) => {
      this.#scrollAtEdge(time);
      this.#lastFrame = time;
      this.#frame = requestAnimationFrame(step);
    };
    this.#frame = requestAnimationFrame(step);
  }

  /** The row above which the records would go. */
  get #gap() {
    const row = this.#grid.viewport.rowAt(this.#pointer.y - this.#grid.rowsTop);
    return Math.max(0, Math.min(Math.round(row), this.#grid.list.total));
  }

  #show() {
    const { viewport } = this.#grid;
    const gap = this.#gap;
    const top = viewport.position(Math.max(0, gap - 1)) + (gap > 0 ? rowHeight : 0);
    this.#line.style.top = `${top + this.#grid.head.offsetHeight}px`;
    this.#line.style.width = `${this.#grid.grid.offsetWidth}px`;
    this.#label.style.left = `${this.#pointer.x + 14}px`;
    this.#label.style.top = `${this.#pointer.y + 10}px`;
  }

  #scrollAtEdge(time) {
    const { viewport, rowsTop } = this.#grid;
    const above = rowsTop + edge - this.#pointer.y;
    const below = this.#pointer.y - (rowsTop + viewport.height - edge);
    const depth = Math.min(edge, Math.max(above, below));
    if (depth <= 0) {
      this.#edgeSince = null;
      return;
    }
    this.#edgeSince ??= time;
    const seconds = (time - this.#edgeSince) / 1000;
    const speed = (depth / edge) * 700 * Math.min(4 ** seconds, 50_000);
    const pixels = (speed * (time - this.#lastFrame)) / 1000;
    viewport.scrollTo(viewport.top + (above > 0 ? -pixels : pixels));
    this.#grid.render();
    this.#show();
  }

  #finish() {
    const gap = this.#gap;
    this.#cancel();
    if (this.#hasMoved) this.#drop(this.#ids, gap);
  }

  #cancel() {
    this.#end.abort();
    cancelAnimationFrame(this.#frame);
    this.#line.remove();
    this.#label.remove();
    this.#grid.node.classList.remove("is-dragging");
    if (this.#hasMoved) this.#grid.dim([]);
  }
}

// Dragging the edge between two column heads changes the width of the left column. Dragging a head moves the column.

export function allowResizing(grid) {
  grid.head.addEventListener("pointerdown", (event) => {
    const edge = event.target.closest(".column-edge");
    if (!edge || event.button !== 0) return;
    event.preventDefault();
    edge.setPointerCapture(event.pointerId);
    const { column } = grid.placeOf(edge);
    const start = grid.widthOf(column) - event.clientX;
    const end = new AbortController();
    const on = (name, handler) => edge.addEventListener(name, handler, { signal: end.signal });
    on("pointermove", (move) => grid.resize(column, start + move.clientX));
    for (const name of ["pointerup", "pointercancel"]) on(name, () => end.abort());
  });
  // A click on the edge must not count as a click on the head, which would sort.
  grid.head.addEventListener("click", (event) => {
    if (event.target.closest(".column-edge")) event.stopPropagation();
  }, { capture: true });
}

/** `move(name, before)` puts a column before another, or last if there is none. */
export function allowMovingColumns(grid, move) {
  grid.head.addEventListener("pointerdown", (event) => {
    const head = event.target.closest(".head[data-column]");
    const isElsewhere = event.target.closest(".column-edge, .head-menu") || event.pointerType === "touch";
    if (!head || isElsewhere || event.button !== 0 || grid.placeOf(head).column === 0) return;
    dragColumn(grid, head, event, move);
  });
}

function dragColumn(grid, head, start, move) {
  const line = element("div", { class: "column-line" });
  const end = new AbortController();
  const on = (name, handler, capture = false) => addEventListener(name, handler, { signal: end.signal, capture });
  const heads = [...grid.head.firstChild.children].slice(1);
  let target;
  const finish = () => {
    end.abort();
    line.remove();
    head.classList.remove("is-dragged");
  };
  on("pointermove", ({ clientX }) => {
    if (target === undefined && Math.abs(clientX - start.clientX) < threshold * 2) return;
    // The first head whose middle is to the right of the pointer.
    target = heads.find((each) => middle(each) > clientX) ?? null;
    head.classList.add("is-dragged");
    grid.node.append(line);
    line.style.left = `${target ? target.offsetLeft : heads.at(-1).offsetLeft + heads.at(-1).offsetWidth}px`;
  });
  on("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    finish();
  }, true);
  on("pointercancel", finish);
  on("pointerup", () => {
    finish();
    if (target === undefined) return;
    // A click that follows would sort. If the pointer ends over another head, there is none.
    const noClick = new AbortController();
    addEventListener("click", (click) => click.stopPropagation(), { capture: true, signal: noClick.signal });
    setTimeout(() => noClick.abort());
    if (target !== head) move(head.dataset.column, target?.dataset.column);
  });
}

function middle(head) {
  const { left, width } = head.getBoundingClientRect();
  return left + width / 2;
}
