// One matrix as a grid of numbers, each with its slider under it: the browser's own inputs, so that
// keyboard, touch and screen reader work as they do everywhere else.

const PAGE_STEPS = 10;
const ROOM = { folded: 6, unfolded: 8 }; // characters
const UNFOLDED = 2; // rows and columns that fit without folding to one row at a time

const element = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

// JupyterLab takes arrow keys for moving between cells unless the focused element itself forbids it.
const control = (tag, name, properties = {}) => {
  const made = element(tag, properties);
  made.setAttribute("aria-label", name);
  made.setAttribute("data-lm-suppress-shortcuts", "true");
  return made;
};

// As many digits as the field has room for: a number that is cut would be read as another one.
// Python's infinities and NaN travel as text: JSON has no word for them.
const shown = (value, room) => {
  if (typeof value !== "number") return "";
  for (let digits = 7; digits > 1; digits--) {
    const text = String(+value.toPrecision(digits));
    if (text.length <= room) return text;
  }
  return String(+value.toPrecision(1));
};

function render({ model, el }) {
  const root = element("div", { className: `attnlib-matrix attnlib-${model.get("role")}` });
  root.setAttribute("role", "group");
  el.append(root);
  let inputs = [];
  let row = 0;
  let room = ROOM.unfolded;

  const send = (t, f, value) => {
    const values = model.get("values").map((line) => [...line]);
    if (values[t][f] === value) return update();
    values[t][f] = value;
    model.set("values", values);
    model.save_changes();
  };

  const makeEntry = (t, f) => {
    const name = `${model.get("name")}, ${model.get("row_names")[t]}, ${model.get("column_names")[f]}`;
    const number = control("input", `${name}, typed`, { type: "number", step: "any" });
    const range = control("input", name, { type: "range" });
    const typed = () => {
      // What stands there may be rounded: sent back untouched it would lose digits.
      if (number.value === shown(model.get("values")[t][f], room)) return;
      if (Number.isFinite(number.valueAsNumber)) send(t, f, number.valueAsNumber);
      else update();
    };
    number.addEventListener("change", typed);
    number.addEventListener("keydown", (event) => {
      if (event.key === "Enter") typed();
      const change = { ArrowUp: 1, ArrowDown: -1, PageUp: PAGE_STEPS, PageDown: -PAGE_STEPS };
      if (event.key in change) step(event, t, f, change[event.key]);
    });
    range.addEventListener("input", () => send(t, f, range.valueAsNumber));
    range.addEventListener("keydown", (event) => {
      const change = { PageUp: PAGE_STEPS, PageDown: -PAGE_STEPS };
      if (event.key in change) step(event, t, f, change[event.key]);
    });
    const focused = () => {
      model.set("focused", [t, f]);
      model.save_changes();
    };
    number.addEventListener("focus", focused);
    range.addEventListener("focus", focused);
    inputs.push({ t, f, number, range });
    return { number, range };
  };

  // Steps start from the exact value, so that a typed 0.3 moves to 0.55 and not to 0.5.
  const step = (event, t, f, count) => {
    event.preventDefault();
    const value = model.get("values")[t][f];
    if (typeof value !== "number") return;
    const moved = value + count * model.get("steps")[t][f];
    const bounded = Math.min(model.get("maxima")[t][f], Math.max(model.get("minima")[t][f], moved));
    send(t, f, +bounded.toPrecision(12));
  };

  const table = (rows, columns) => {
    const head = element("tr", {}, element("td", { style: "height:auto" }));
    for (let f = 0; f < columns; f++)
      head.append(element("th", { scope: "col", textContent: model.get("column_labels")[f] }));
    const body = element("tbody");
    for (let t = 0; t < rows; t++) {
      if (words(t)) body.append(wordsAbove(t, columns));
      const line = element("tr");
      line.append(element("th", { scope: "row", textContent: model.get("row_labels")[t] }));
      for (let f = 0; f < columns; f++) {
        const { number, range } = makeEntry(t, f);
        const entry = element("div", { className: "attnlib-entry" }, number, range);
        line.append(element("td", {}, entry));
      }
      body.append(line);
    }
    return element("table", {}, element("thead", {}, head), body);
  };

  // What a person calls this row's token; it may be any text, and is shown as text.
  const words = (t) => model.get("row_words")[t] ?? "";

  const wordsAbove = (t, columns) => {
    const cell = element("td", { colSpan: columns, textContent: words(t), title: words(t) });
    return element("tr", { className: "attnlib-row-words" }, element("td"), cell);
  };

  const folded = (columns) => {
    const grid = element("div", { className: "attnlib-folded" });
    for (let f = 0; f < columns; f++) {
      const { number, range } = makeEntry(row, f);
      const label = element("label", {}, model.get("column_labels")[f], range);
      grid.append(element("div", { className: "attnlib-entry" }, number, label));
    }
    return grid;
  };

  const chooser = (rows) => {
    const select = control("select", `Row of ${model.get("name")} to edit`);
    for (let t = 0; t < rows; t++) {
      const label = [model.get("row_labels")[t], words(t)].join(" ").trim();
      select.append(element("option", { value: t, textContent: label, selected: t === row }));
    }
    if (words(row)) {
      select.className = "attnlib-labelled";
      select.title = words(row);
    }
    select.addEventListener("change", () => {
      row = Number(select.value);
      build();
    });
    return select;
  };

  const build = () => {
    const [rows, columns] = [model.get("values").length, model.get("values")[0].length];
    const fold = model.get("folds") && (rows > UNFOLDED || columns > UNFOLDED);
    row = Math.min(row, rows - 1);
    room = fold ? ROOM.folded : ROOM.unfolded;
    inputs = [];
    const head = element(
      "div",
      { className: "attnlib-matrix-head" },
      element("b", { textContent: model.get("name") }),
      element("span", { textContent: model.get("caption") })
    );
    if (fold) head.append(chooser(rows));
    root.setAttribute("aria-label", `${model.get("name")}, ${model.get("caption")}`);
    root.replaceChildren(head, fold ? folded(columns) : table(rows, columns));
    update();
    mark();
  };

  const update = () => {
    for (const { t, f, number, range } of inputs) {
      const value = model.get("values")[t][f];
      range.min = model.get("minima")[t][f];
      range.max = model.get("maxima")[t][f];
      range.step = model.get("steps")[t][f];
      if (typeof value === "number" && range.valueAsNumber !== value) range.value = value;
      const text = shown(value, room);
      if (number.value !== text) number.value = text;
      number.title = String(value);
    }
  };

  const mark = () => {
    const sources = new Set(model.get("sources").map(String));
    for (const { t, f, range } of inputs)
      range.closest(".attnlib-entry").classList.toggle("attnlib-source", sources.has(`${t},${f}`));
  };

  const changed = () => {
    const values = model.get("values");
    const shape = `${values.length} ${values[0].length}`;
    if (shape === root.dataset.shape) return update();
    root.dataset.shape = shape;
    build();
  };

  model.on("change:values change:minima change:maxima change:steps", changed);
  // Names may come in a later message than the numbers that they belong to.
  model.on("change:row_names change:row_labels change:row_words", build);
  model.on("change:column_names change:column_labels", build);
  model.on("change:sources", mark);
  changed();
  model.set("pixel_ratio", window.devicePixelRatio || 1);
  model.save_changes();
  return () => {
    model.off(null, changed);
    model.off(null, mark);
    model.off(null, build);
  };
}

export default { render };
