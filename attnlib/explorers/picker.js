// One of many, in the browser's own list, by group.

const SUPPRESS = "data-lm-suppress-shortcuts"; // JupyterLab's keys must not act on a focused control

const element = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

function render({ model, el }) {
  const list = element("select");
  list.setAttribute(SUPPRESS, "true");
  // As wide as its longest title, where the page is.
  Object.assign(list.style, { width: "auto", maxWidth: "100%" });
  const groups = new Map();
  for (const [group, title, value] of model.get("options")) {
    if (!groups.has(group)) groups.set(group, element("optgroup", { label: group }));
    groups.get(group).append(element("option", { value, textContent: title }));
  }
  list.append(...groups.values());
  list.addEventListener("change", () => {
    model.set("value", list.value);
    model.save_changes();
  });
  const show = () => (list.value = model.get("value"));
  model.on("change:value", show);
  show();
  const label = element("label", {}, `${model.get("label")} `, list);
  el.append(element("div", { className: "attnlib-toolbar" }, label));
  return () => model.off(null, null, null);
}

export default { render };
