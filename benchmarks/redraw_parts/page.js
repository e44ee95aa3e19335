// Runs in the page: the time from a real key press to the frame that shows its effect. An effect is
// an image that has loaded, or a text that changed inside .bench-shown; it is timed where it happens
// (`effects`) and where the frame that shows it has been drawn (`times`).
(() => {
  const bench = (window.bench = { pressed: null, effects: [], times: [], shown: 0, frames: 0 });
  const channel = new MessageChannel();
  const waiting = [];
  // A message posted in an animation frame arrives when that frame has been drawn.
  channel.port1.onmessage = () => {
    while (waiting.length) bench.times.push(performance.now() - waiting.shift());
    if (bench.times.length >= bench.wanted) bench.done();
  };
  bench.clear = () => (bench.times.length = bench.effects.length = 0);
  // A promise and no polling, which would take its share of every frame.
  bench.wait = (count) =>
    new Promise((done, failed) => {
      if (bench.times.length >= count) return done();
      Object.assign(bench, { wanted: count, done });
      setTimeout(() => failed(new Error("nothing was shown for a minute")), 60000);
    });
  const effect = () => {
    bench.shown += 1;
    if (bench.pressed === null) return;
    const pressed = bench.pressed;
    bench.pressed = null;
    bench.effects.push(performance.now() - pressed);
    requestAnimationFrame(() => {
      waiting.push(pressed);
      channel.port2.postMessage(null);
    });
  };
  const key = (event) => (bench.pressed = event.timeStamp);
  const loaded = (event) => {
    if (event.target.matches?.(".jp-Notebook .jp-OutputArea img")) effect();
  };
  addEventListener("keydown", key, true);
  document.addEventListener("load", loaded, true);
  new MutationObserver((records) => {
    const inside = ({ target }) => (target.closest ? target : target.parentElement)?.closest(".bench-shown");
    if (records.some(inside)) effect();
  }).observe(document, { subtree: true, childList: true, characterData: true });
  // Several effects between two frames are one picture to the eye.
  let seen = 0;
  const frame = () => {
    if (bench.shown !== seen) bench.frames += 1;
    seen = bench.shown;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})();
