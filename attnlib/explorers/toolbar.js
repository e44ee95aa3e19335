// What stands above the matrices: where to start from, d_k, undo and redo, copy and save.

const SUPPRESS = "data-lm-suppress-shortcuts"; // JupyterLab's keys must not act on a focused control

const element = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  if (["select", "input", "button"].includes(tag)) made.setAttribute(SUPPRESS, "true");
  made.append(...children);
  return made;
};

const labelled = (words, ...controls) => element("label", {}, words, ...controls);

function select(model, name, options) {
  const made = element("select");
  for (const [title, value] of options)
    made.append(element("option", { value, textContent: title }));
  made.addEventListener("change", () => {
    model.set(name, made.value);
    model.save_changes();
  });
  const show = () => (made.value = model.get(name));
  model.on(`change:${name}`, show);
  show();
  return made;
}

function width(model) {
  const range = element("input", { type: "range", min: 1, max: model.get("largest_width"), step: 1 });
  range.setAttribute("aria-label", "d_k, the width of queries and keys");
  const readout = element("output");
  range.addEventListener("input", () => {
    model.set("key_width", range.valueAsNumber);
    model.save_changes();
  });
  const show = () => {
    range.value = model.get("key_width");
    readout.textContent = String(model.get("key_width"));
  };
  model.on("change:key_width", show);
  show();
  return [range, readout];
}

function button(model, words, action, enabled) {
  const made = element("button", { type: "button", textContent: words });
  made.addEventListener("click", () => model.send({ do: action }));
  if (enabled) {
    const show = () => (made.disabled = !model.get(enabled));
    model.on(`change:${enabled}`, show);
    show();
  }
  return made;
}

function fold(model) {
  const made = element("button", { type: "button", textContent: "Tables" });
  made.title = "Every number as a table, with six decimals";
  made.addEventListener("click", () => {
    model.set("tables", !model.get("tables"));
    model.save_changes();
  });
  const show = () => made.setAttribute("aria-expanded", String(model.get("tables")));
  model.on("change:tables", show);
  show();
  return made;
}

function save(model) {
  const made = element("select");
  made.setAttribute("aria-label", "Save the picture or the numbers");
  made.append(element("option", { value: "", textContent: "Save…" }));
  for (const [title, action] of model.get("files"))
    made.append(element("option", { value: action, textContent: title }));
  made.addEventListener("change", () => {
    if (made.value) model.send({ do: made.value });
    made.value = "";
  });
  return made;
}

// What a button did shows on the button itself, and is spoken.
function tell(shown, status, words) {
  const before = shown.textContent;
  shown.textContent = status.textContent = words;
  setTimeout(() => {
    shown.textContent = before;
    status.textContent = "";
  }, 2500);
}

// Without permission for the clipboard the code still stands on screen, marked, to be copied by hand.
async function copy(text, box, shown, status) {
  box.value = text;
  try {
    await navigator.clipboard.writeText(text);
    tell(shown, status, "Copied");
  } catch {
    box.hidden = false;
    box.focus();
    box.select();
    status.textContent = "Press Ctrl+C to copy, Escape to close.";
  }
}

function download(name, type, bytes, shown, status) {
  const link = element("a", { href: URL.createObjectURL(new Blob([bytes], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  tell(shown, status, "Saved");
}

function render({ model, el }) {
  const status = element("span", { className: "attnlib-spoken" });
  status.setAttribute("role", "status");
  const box = element("textarea", { hidden: true, readOnly: true, rows: 7, className: "attnlib-code" });
  box.setAttribute(SUPPRESS, "true");
  box.setAttribute("aria-label", "Python that rebuilds this state");
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") box.hidden = true;
  });
  const [copying, saving] = [button(model, "Copy code", "copy"), save(model)];
  const bar = element(
    "div",
    { className: "attnlib-toolbar" },
    labelled("Start from ", select(model, "preset", model.get("presets"))),
    labelled("dₖ ", ...width(model)),
    labelled("new: ", select(model, "new_features", model.get("fillings"))),
    button(model, "Undo", "undo", "can_undo"),
    button(model, "Redo", "redo", "can_redo"),
    button(model, "Reset", "reset"),
    fold(model),
    copying,
    saving
  );
  el.append(bar, box, status);
  const answered = (message, buffers) => {
    if (message.kind === "copy") copy(message.text, box, copying, status);
    if (message.kind === "file") {
      download(message.name, message.type, buffers[0], saving.options[0], status);
    }
  };
  model.on("msg:custom", answered);
  return () => model.off(null, null, null);
}

export default { render };
