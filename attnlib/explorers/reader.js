// A picture's cells as buttons that lie over it: choose one by mouse or arrow keys to read it. The
// chosen cell and those that its numbers come from are marked here, so that marking costs no picture.

function render({ model, el }) {
  const root = document.createElement("div");
  root.className = "attnlib-reader";
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", "Cells to read");
  el.append(root);
  el.classList.add("attnlib-reader-layer");
  let cells = new Map();

  const key = (name, row, column) => `${name} ${row} ${column}`;

  const choose = (name, row, column) => {
    model.set("chosen", [name, row, column]);
    model.save_changes();
  };

  const move = (event, grid, row, column) => {
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (event.key === "Escape") return choose("", 0, 0);
    if (!(event.key in moves)) return;
    event.preventDefault();
    const [down, right] = moves[event.key];
    const to = cells.get(key(grid.name, row + down, column + right));
    if (to) to.focus();
  };

  const makeCell = (grid, row, column) => {
    const cell = document.createElement("button");
    cell.type = "button";
    cell.className = "attnlib-cell";
    cell.tabIndex = row === 0 && column === 0 ? 0 : -1;
    cell.setAttribute("data-lm-suppress-shortcuts", "true");
    cell.setAttribute("aria-label", `${grid.title}, ${grid.row_names[row]}, ${grid.column_names[column]}`);
    cell.setAttribute("aria-pressed", "false");
    const [left, top] = [grid.across[column], grid.down[row]];
    Object.assign(cell.style, {
      left: `${left}px`,
      top: `${top}px`,
      width: `${grid.across[column + 1] - left}px`,
      height: `${grid.down[row + 1] - top}px`,
    });
    cell.addEventListener("focus", () => {
      for (const other of root.querySelectorAll(`[data-grid="${grid.name}"]`)) other.tabIndex = -1;
      cell.tabIndex = 0;
      choose(grid.name, row, column);
    });
    cell.addEventListener("keydown", (event) => move(event, grid, row, column));
    cell.dataset.grid = grid.name;
    return cell;
  };

  const build = () => {
    cells = new Map();
    for (const grid of model.get("grids"))
      for (let row = 0; row < grid.down.length - 1; row++)
        for (let column = 0; column < grid.across.length - 1; column++)
          cells.set(key(grid.name, row, column), makeCell(grid, row, column));
    root.replaceChildren(...cells.values());
    mark();
  };

  const mark = () => {
    const chosen = key(...model.get("chosen"));
    const sources = new Set(model.get("sources").map((source) => key(...source)));
    for (const [place, cell] of cells) {
      cell.classList.toggle("attnlib-chosen", place === chosen);
      cell.classList.toggle("attnlib-source", sources.has(place));
      cell.setAttribute("aria-pressed", String(place === chosen));
    }
  };

  model.on("change:grids", build);
  model.on("change:chosen change:sources", mark);
  build();
  return () => model.off(null, null, null);
}

export default { render };
