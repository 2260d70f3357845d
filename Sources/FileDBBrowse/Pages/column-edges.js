// Dragging the edge between two column heads changes the width of the left column.

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
