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
    if (row < 0) actions.sortByColumn(grid.columns[column - 1]?.name ?? "id", event.shiftKey ? "add" : "only");
    else if (event.shiftKey) actions.extendSelection(row, previous);
    else if (event.ctrlKey || event.metaKey || event.target.closest(".tick")) actions.toggleSelection();
    // Fingers do not double-click: a second touch edits.
    else if (event.pointerType === "touch" && wasFocused && column > 0) editor.edit();
  });
  grid.grid.addEventListener("dblclick", (event) => {
    const place = grid.placeOf(event.target);
    if (!place || place.row < 0) return;
    if (place.column === 0) actions.open();
    else editor.edit();
  });
}
