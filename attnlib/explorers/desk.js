// The parts of one panel as one widget: a browser starts one script and hears one comm for all of
// them. `KINDS` stands before this text: the name of a script -> what it exports.

const [FRAME, PATIENCE] = [20, 300]; // milliseconds

// Stands for a widget's own model: the same get, set, save_changes, send, on and off.
function Part(name, state, post) {
  const views = new Set();
  const unsaved = new Set();
  const emit = (event, ...rest) => {
    for (const view of [...views])
      for (const [events, call] of [...view])
        if (events.includes(event)) call(...rest);
  };
  const change = (changes) => {
    const moved = Object.keys(changes).filter(
      (key) => JSON.stringify(state[key]) !== JSON.stringify(changes[key])
    );
    for (const key of moved) state[key] = changes[key];
    for (const key of moved) emit(`change:${key}`);
    return moved;
  };
  const seen = () => {
    const view = new Set();
    views.add(view);
    const model = {
      get: (key) => state[key],
      set: (key, value) => change({ [key]: value }).forEach((moved) => unsaved.add(moved)),
      save_changes: () => {
        post(name, Object.fromEntries([...unsaved].map((key) => [key, state[key]])));
        unsaved.clear();
      },
      send: (content) => post(name, {}, content),
      on: (events, call) => view.add([events.split(" "), call]),
      off: (_events, call) =>
        view.forEach((each) => (call && each[1] !== call ? 0 : view.delete(each))),
    };
    return { model, leave: () => views.delete(view) };
  };
  return { change, emit, seen };
}

// The picture is seen first; what stands around it has its room already, and comes a frame later.
function afterPicture(el, call) {
  const start = performance.now();
  let timer = setTimeout(function look() {
    const picture = el.closest(".attnlib-panel")?.querySelector(".attnlib-picture");
    const shown = picture?.complete && picture.naturalWidth;
    if (shown || performance.now() - start > PATIENCE) timer = setTimeout(call, FRAME);
    else timer = setTimeout(look, 4);
  });
  return () => clearTimeout(timer);
}

export default () => {
  let parts;

  // One message is under way at a time; what moves meanwhile is sent as it is at the end.
  const gather = (model) => {
    let underway = null;
    let waiting = [];
    const flush = () => {
      if (underway || !waiting.length) return;
      [underway, waiting] = [waiting, []];
      model.send({ sent: underway });
    };
    const post = (name, state, content) => {
      const last = waiting.at(-1);
      if (content || !last || last.name !== name || last.content)
        waiting.push({ name, state: { ...state }, content });
      else Object.assign(last.state, state);
      flush();
    };
    const holds = (name, key) =>
      [...(underway ?? []), ...waiting].some((each) => each.name === name && key in each.state);
    const made = Object.entries(model.get("kinds")).map(([name, { kind, state }]) => [
      name,
      { kind, ...Part(name, state, post) },
    ]);
    parts = new Map(made);
    model.on("msg:custom", (message, buffers) => {
      if (message.received) {
        underway = null;
        return flush();
      }
      const part = parts.get(message.name);
      if (message.content) return part.emit("msg:custom", message.content, buffers);
      // What comes back of our own is older than what the hand does now.
      const news = Object.entries(message.state).filter(
        ([key]) => !(message.echo && holds(message.name, key))
      );
      part.change(Object.fromEntries(news));
    });
  };

  return {
    initialize({ model }) {
      gather(model);
    },
    render({ el }) {
      el.classList.add("attnlib-desk");
      const ends = [];
      const builds = [...parts].map(([name, { kind, seen }]) => {
        const slot = document.createElement("div");
        slot.className = `attnlib-slot attnlib-slot-${kind}`;
        slot.dataset.part = name;
        el.append(slot);
        return () => {
          const { model, leave } = seen();
          ends.push(KINDS[kind].render({ model, el: slot }), leave);
        };
      });
      // How high a toolbar is depends on the page's width, so its room can't be kept for it.
      builds.shift()();
      // In a narrow window the picture scrolls; the toolbar and the words stay in view.
      // Rounded up: a fraction of a pixel less than it wants would break the toolbar's line.
      const fit = new ResizeObserver(([{ contentRect }]) =>
        el.style.setProperty("--attnlib-seen", `${Math.ceil(contentRect.width)}px`)
      );
      const stop = afterPicture(el, () => {
        builds.forEach((build) => build());
        const panel = el.closest(".attnlib-panel");
        if (panel) fit.observe(panel);
      });
      return () => {
        stop();
        fit.disconnect();
        ends.forEach((end) => end?.());
      };
    },
  };
};
