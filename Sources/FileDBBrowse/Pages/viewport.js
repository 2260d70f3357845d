// Which rows are visible, and where. Browsers limit the height of an element (Chromium to 33,554,428 pixels, others to
// less). So with many rows, the scroll bar covers less than the height of the rows: small scrolling moves by pixels,
// and large jumps go to the proportional place.

export const rowHeight = 34;
const greatestHeight = 16_000_000;

export class Viewport {
  /** The height in pixels of the rows above the first visible one. */
  top = 0;
  #scroller;
  #body;
  #headHeight;
  #count = 0;
  #lastScroll = 0;

  constructor(scroller, body, headHeight) {
    this.#scroller = scroller;
    this.#body = body;
    this.#headHeight = headHeight;
  }

  get height() {
    return Math.max(rowHeight, this.#scroller.clientHeight - this.#headHeight);
  }

  get count() {
    return this.#count;
  }

  set count(count) {
    this.#count = count;
    this.#body.style.height = `${Math.min(count * rowHeight, greatestHeight)}px`;
    this.scrollTo(this.top);
  }

  /** The first and the last row that are at least partly visible. */
  get rows() {
    const first = Math.floor(this.top / rowHeight);
    const last = Math.floor((this.top + this.height - 1) / rowHeight);
    return { first, last: Math.min(last, this.#count - 1) };
  }

  /** The present place of a row in the body. */
  position(row) {
    const position = row * rowHeight - this.top + this.#lastScroll;
    const lowest = Math.max(0, Math.min(this.#count * rowHeight, greatestHeight) - rowHeight);
    return Math.max(0, Math.min(position, lowest));
  }

  /** The row, or the gap above it, at a distance from the upper edge of the rows. */
  rowAt(distance) {
    return (this.top + distance) / rowHeight;
  }

  scrollTo(top) {
    this.top = Math.max(0, Math.min(top, this.#greatestTop));
    this.#align();
  }

  /** Scrolls no further than necessary to make a row visible. */
  reveal(row) {
    if (row * rowHeight < this.top) this.scrollTo(row * rowHeight);
    else if ((row + 1) * rowHeight > this.top + this.height) this.scrollTo((row + 1) * rowHeight - this.height);
  }

  /** Called after the person has scrolled. */
  scrolled() {
    const scroll = this.#scroller.scrollTop;
    const moved = scroll - this.#lastScroll;
    if (moved === 0) return;
    const isSmall = Math.abs(moved) < 2 * this.height;
    const top = isSmall ? this.top + moved : scroll * this.#ratio;
    this.#lastScroll = scroll;
    this.top = Math.max(0, Math.min(top, this.#greatestTop));
    const isNearAnEnd = scroll < this.height || scroll > this.#greatestScroll - this.height;
    if (isSmall && isNearAnEnd) this.#align();
  }

  get #greatestTop() {
    return Math.max(0, this.#count * rowHeight - this.height);
  }

  get #greatestScroll() {
    return Math.max(0, Math.min(this.#count * rowHeight, greatestHeight) - this.height);
  }

  get #ratio() {
    return this.#greatestScroll === 0 ? 1 : this.#greatestTop / this.#greatestScroll;
  }

  /** Moves the scroll bar to the place of the rows. */
  #align() {
    this.#scroller.scrollTop = this.top / this.#ratio;
    this.#lastScroll = this.#scroller.scrollTop;
  }
}
