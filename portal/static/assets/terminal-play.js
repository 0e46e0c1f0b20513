// Plays a recording of a terminal (asciicast v2). What it holds is only ever shown by xterm.js: nothing that it answers goes anywhere.
(function () {
  "use strict";
  const box = document.getElementById("play");
  if (!box || !window.Terminal) return;
  const $ = (id) => document.getElementById("play-" + id);
  const term = new window.Terminal({ ...window.musterTerminalOptions, disableStdin: true, fontSize: 14, cols: Number(box.dataset.cols), rows: Number(box.dataset.rows) });
  const inner = document.createElement("div");
  inner.className = "term-in";
  $("screen").append(inner);
  term.open(inner);

  let events = [], next = 0, at = 0, playing = false, last = 0;
  const total = () => (events.length ? events[events.length - 1][0] : 0);
  const clock = (t) => Math.floor(t / 60) + ":" + String(Math.floor(t % 60)).padStart(2, "0");

  function show() {
    $("at").value = at;
    $("time").textContent = clock(at) + " / " + clock(total());
    $("go").textContent = playing ? "Pause" : at >= total() && total() ? "Play again" : "Play";
  }
  function apply(e) {
    if (e[1] === "o") term.write(String(e[2]));
    if (e[1] === "r") {
      const m = /^(\d{1,4})x(\d{1,4})$/.exec(e[2]);
      if (m) term.write("", () => term.resize(Math.min(Math.max(+m[1], 2), 1000), Math.min(Math.max(+m[2], 1), 500)));
    }
  }
  function to(t) {
    if (t < at) {
      term.write("\x1bc"); // in turn: xterm.js writes later, and term.reset() would come before what it still has to write
      next = 0;
    }
    at = t;
    while (next < events.length && events[next][0] <= at) apply(events[next++]);
  }
  function tick(now) {
    if (!playing) return;
    let t = at + ((now - last) / 1000) * Number($("speed").value);
    last = now;
    if ($("skip").checked && next < events.length && events[next][0] - t > 1) t = events[next][0] - 0.5;
    to(Math.min(t, total()));
    if (at >= total()) playing = false;
    show();
    if (playing) requestAnimationFrame(tick);
  }
  function play(on) {
    if (on && at >= total()) to(-1), (at = 0);
    playing = on;
    last = performance.now();
    show();
    if (on) requestAnimationFrame(tick);
  }
  $("go").onclick = () => play(!playing);
  $("at").oninput = () => {
    const chosen = Number($("at").value); // before play() shows the old position
    play(false);
    to(chosen);
    show();
  };
  $("state").textContent = "Loading the recording";
  fetch(box.dataset.cast, { headers: { "Muster-Part": "recording" } }).then((r) => {
    if (!r.ok) throw new Error(r.status === 403 ? "You can't play this recording." : "The recording can't be loaded. Reload the page to try again.");
    return r.text();
  }).then((text) => {
    for (const line of text.split("\n").slice(1)) {
      try {
        const e = JSON.parse(line);
        if (Array.isArray(e) && typeof e[0] === "number") events.push(e);
      } catch { /* a line that was cut off */ }
    }
    $("at").max = Math.ceil(total() * 100) / 100; // a multiple of its step, so that its end is the recording's
    $("state").textContent = events.length ? "" : "This recording is empty.";
    window.musterTerminal = term; // for tests
    play(events.length > 0);
  }, (e) => { $("state").textContent = e.message; });
})();
