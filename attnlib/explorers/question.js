// A question as a form of the browser's own inputs: choose or type, commit, read the verdict. The
// answer is judged in the kernel; the right one is never here.

const LETTERS = "abcdef";
const PATIENCE = 8000; // milliseconds
const SILENCE = "No answer from the kernel. If it was restarted, run this cell again.";

const element = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  // JupyterLab takes arrow keys and Enter for itself unless the focused element forbids it.
  if (["input", "button", "summary"].includes(tag))
    made.setAttribute("data-lm-suppress-shortcuts", "true");
  made.append(...children);
  return made;
};

// Radio buttons; the form keeps them apart from those of other questions.
function choices(model) {
  const buttons = model.get("options").map((words, index) =>
    element("input", { type: "radio", name: "option", value: LETTERS[index] })
  );
  const labels = model.get("options").map((words, index) =>
    element("label", {}, buttons[index], element("span", { textContent: `${LETTERS[index]}. ${words}` }))
  );
  return {
    view: element("div", { className: "attnlib-options" }, ...labels),
    read: () => buttons.find((button) => button.checked)?.value ?? null,
    write: (letter) => buttons.forEach((button) => (button.checked = button.value === letter)),
  };
}

const field = (name) => {
  const made = element("input", { type: "number", step: "any" });
  made.setAttribute("aria-label", name);
  return made;
};

const number = (input) => (Number.isFinite(input.valueAsNumber) ? input.valueAsNumber : null);

// One number, a list with a name over each, or a grid with a name for each row as well.
function numbers(model) {
  const [rows, columns] = [model.get("rows"), model.get("columns")];
  if (!columns.length) {
    const input = field("Your answer");
    return {
      view: element("label", { className: "attnlib-number" }, "Your answer ", input),
      read: () => number(input),
      write: (value) => (input.value = value ?? ""),
    };
  }
  const grid = (rows.length ? rows : [""]).map((row) =>
    columns.map((column) => field([row, column].filter(Boolean).join(", ")))
  );
  const head = element("tr", {}, ...(rows.length ? [element("td")] : []));
  for (const column of columns)
    head.append(element("th", { scope: "col", textContent: column }));
  const body = grid.map((line, index) => {
    const name = rows.length ? [element("th", { scope: "row", textContent: rows[index] })] : [];
    return element("tr", {}, ...name, ...line.map((input) => element("td", {}, input)));
  });
  return {
    view: element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)),
    read: () => {
      const values = grid.map((line) => line.map(number));
      return rows.length ? values : values[0];
    },
    write: (values) => {
      const lines = rows.length ? values : [values];
      grid.forEach((line, row) =>
        line.forEach((input, column) => (input.value = lines?.[row]?.[column] ?? ""))
      );
    },
  };
}

function render({ model, el }) {
  const answer = model.get("options").length ? choices(model) : numbers(model);
  const verdict = element("div", { className: "attnlib-verdict" });
  verdict.setAttribute("role", "status");
  verdict.setAttribute("aria-live", "polite");
  const reasoning = element("p");
  const more = element(
    "details",
    { className: "attnlib-reasoning" },
    element("summary", { textContent: "Show the reasoning" }),
    reasoning
  );
  const question = element("legend", { textContent: model.get("text") });
  const form = element(
    "form",
    { className: "attnlib-question", noValidate: true },
    element("fieldset", {}, question, answer.view),
    element("button", { type: "submit", textContent: "Commit" }),
    verdict,
    more
  );
  // A notebook takes Enter away from the browser, which would commit, press and open with it.
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.stopPropagation();
  });
  let waiting;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(waiting);
    const silent = () => (verdict.textContent = SILENCE);
    try {
      model.send({ commit: answer.read() });
      waiting = setTimeout(silent, PATIENCE);
    } catch {
      // After a restart of the kernel there is nobody to send to.
      silent();
    }
  });
  el.append(form);
  const show = () => {
    clearTimeout(waiting);
    const passed = model.get("passed");
    form.dataset.verdict = model.get("commits") === 0 || passed === null ? "none" : String(passed);
    // Emptied first, so that the same words are read out again after another try.
    verdict.textContent = "";
    verdict.textContent = model.get("message");
    reasoning.textContent = model.get("reasoning");
    more.hidden = !model.get("reasoning");
    more.open = false;
  };
  model.on("change:commits", show);
  // A second view, or one made after a reload, starts from what was committed.
  if (model.get("commits")) answer.write(model.get("given"));
  show();
  return () => {
    clearTimeout(waiting);
    model.off("change:commits", show);
  };
}

export default { render };
