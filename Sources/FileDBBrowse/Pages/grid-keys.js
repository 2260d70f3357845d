// The keys of the grid.

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
    case "Delete": return actions.remove;
    case "Insert": return actions.add;
    case "Escape": return actions.clearSelection;
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
