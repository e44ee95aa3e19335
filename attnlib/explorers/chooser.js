// Which entry of Q, K or V moves, by how much, and in which precision: the browser's own controls.

const SUPPRESS = "data-lm-suppress-shortcuts"; // JupyterLab's keys must not act on a focused control

const element = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  if (["select", "input"].includes(tag)) made.setAttribute(SUPPRESS, "true");
  made.append(...children);
  return made;
};

const labelled = (words, control) => element("label", {}, words, control);

function entries(model) {
  const made = element("select");
  const build = () => {
    const groups = new Map();
    model.get("entries").forEach(([group, title], position) => {
      if (!groups.has(group)) groups.set(group, element("optgroup", { label: group }));
      groups.get(group).append(element("option", { value: position, textContent: title }));
    });
    made.replaceChildren(...groups.values());
    made.value = model.get("entry");
  };
  made.addEventListener("change", () => {
    model.set("entry", Number(made.value));
    model.save_changes();
  });
  model.on("change:entries", build);
  model.on("change:entry", () => (made.value = model.get("entry")));
  build();
  return made;
}

function precisions(model) {
  const made = element("select");
  for (const word of model.get("precisions"))
    made.append(element("option", { value: word, textContent: word }));
  made.addEventListener("change", () => {
    model.set("precision", made.value);
    model.save_changes();
  });
  const show = () => (made.value = model.get("precision"));
  model.on("change:precision", show);
  show();
  return made;
}

// The slider moves the power of ten; the field takes any text, and what is no step is refused in words.
function steps(model) {
  const range = element("input", { type: "range", min: -15, max: 0, step: 0.25 });
  range.setAttribute("aria-label", "Step h, as a power of ten");
  range.style.width = "170px";
  const typed = element("input", { type: "text", inputMode: "decimal", size: 8 });
  typed.setAttribute("aria-label", "Step h, typed");
  const send = (text) => {
    model.set("step", text);
    model.save_changes();
  };
  range.addEventListener("input", () => {
    const power = range.valueAsNumber;
    send(Number.isInteger(power) ? `1e${power}` : (10 ** power).toPrecision(3));
  });
  typed.addEventListener("change", () => send(typed.value));
  typed.addEventListener("keydown", (event) => {
    if (event.key === "Enter") send(typed.value);
  });
  const show = () => {
    const step = model.get("step");
    typed.value = step;
    const power = Math.log10(Number(step));
    if (Number.isFinite(power)) range.value = power;
    range.setAttribute("aria-valuetext", `h = ${step}`);
  };
  model.on("change:step", show);
  show();
  return [range, typed];
}

function render({ model, el }) {
  const [range, typed] = steps(model);
  el.append(
    element(
      "div",
      { className: "attnlib-toolbar" },
      labelled("Entry ", entries(model)),
      labelled("in ", precisions(model)),
      labelled("step h ", range),
      typed
    )
  );
  return () => model.off(null, null, null);
}

export default { render };
