// Dragging records to another place with a mouse, a pen or a finger. Near an edge the rows scroll, faster and faster,
// so that even a million rows can be crossed.

import { counted, element } from "./dom.js";
import { rowHeight } from "./viewport.js";

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
  }
}
