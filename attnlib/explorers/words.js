// The state in words. A screen reader hears it when the hand rests, not on every step of a drag.

const REST = 700; // milliseconds

const line = (className) => Object.assign(document.createElement("p"), { className });

function render({ model, el }) {
  const root = document.createElement("div");
  root.className = "attnlib-words";
  const parts = {
    refusal: line("attnlib-refusal"),
    reading: line("attnlib-reading"),
    summary: line("attnlib-summary"),
  };
  // Below the others, in a room of its own: it is there to stay while they come and go.
  const note = line("attnlib-note");
  const spoken = line("attnlib-spoken");
  spoken.setAttribute("aria-live", "polite");
  root.append(...Object.values(parts), spoken);
  el.append(root, note);
  let timer;
  // A picture is an image widget, which can't carry a text alternative of its own.
  const describe = () => {
    const panel = el.closest(".attnlib-panel");
    const pictures = panel?.querySelectorAll("img.widget-image") ?? [];
    for (const picture of pictures) picture.alt = model.get("summary");
    return pictures.length;
  };
  let tries = 100;
  const waiting = setInterval(() => (describe() || !tries--) && clearInterval(waiting), 50);
  const show = () => {
    const refused = Boolean(model.get("refusal"));
    for (const [name, part] of Object.entries(parts)) {
      part.textContent = model.get(name);
      // A reading belongs to the numbers in the sliders: while those are refused there is none.
      part.hidden = !model.get(name) || (refused && name === "reading");
    }
    // The panel keeps its height where a state without a note follows.
    if (note.textContent) note.style.minHeight = `${note.offsetHeight}px`;
    note.textContent = model.get("note");
    note.hidden = !note.textContent && !note.style.minHeight;
    clearTimeout(timer);
    timer = setTimeout(() => {
      describe();
      spoken.textContent = ["refusal", "reading", "summary"].map((name) => model.get(name)).join(" ");
    }, REST);
  };
  model.on("change:refusal change:reading change:summary change:note", show);
  show();
  return () => {
    clearTimeout(timer);
    clearInterval(waiting);
    model.off(null, show);
  };
}

export default { render };
