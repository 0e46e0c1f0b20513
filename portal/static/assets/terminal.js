// A terminal on a node: xterm.js on the screen, a WebSocket to the server. A lost connection is opened again and continues where it was.
(function () {
  "use strict";
  const box = document.getElementById("term");
  if (!box || !window.Terminal) return;
  const $ = (id) => document.getElementById("term-" + id);
  const screen = $("screen"), state = $("state"), store = window.sessionStorage;

  const kept = "terminal " + box.dataset.stream;
  const saved = JSON.parse(store.getItem(kept) || "null") || {};
  const reader = localStorage.getItem("terminal reader") === "1";
  let size = Number(localStorage.getItem("terminal font")) || 14;
  const term = new window.Terminal({
    ...window.musterTerminalOptions, fontSize: size, screenReaderMode: reader,
    cursorBlink: !matchMedia("(prefers-reduced-motion: reduce)").matches, macOptionIsMeta: true,
  });
  const fit = new window.FitAddon.FitAddon();
  term.loadAddon(fit);
  const inner = document.createElement("div");
  inner.className = "term-in";
  screen.append(inner);
  term.open(inner);
  fit.fit();
  term.focus();

  let id = saved.id || "", run = "", at = 0, shown = 0, reported = 0, old = 0, ws = null, tries = 0, timer = 0, over = null, why = null;
  // ended is also that people must do something before it connects: sign in, or know of a recording.
  let ended = false, announced = false;

  function say(kind, text) {
    state.dataset.state = kind;
    state.lastElementChild.textContent = text;
  }
  function cover(message, hint) {
    uncover();
    over = document.createElement("div");
    over.className = "term-over";
    for (const [text, name] of [[message, ""], [hint, "hint"]]) {
      if (!text) continue;
      const p = document.createElement("p");
      p.textContent = text;
      p.className = name;
      over.append(p);
    }
    screen.append(over);
    return over;
  }
  function uncover() {
    if (over) over.remove();
    over = null;
  }
  function send(m) {
    if (ws && ws.readyState === WebSocket.OPEN) ws.send(typeof m === "string" || m instanceof Uint8Array ? m : JSON.stringify(m));
  }
  const bytes = new TextEncoder();
  const type = (text) => {
    const b = bytes.encode(text);
    for (let i = 0; i < b.length; i += 32768) send(b.subarray(i, i + 32768));
  };

  function connect() {
    clearTimeout(timer);
    const q = new URLSearchParams({ cols: term.cols, rows: term.rows, terminal: id, run, at });
    if (announced) q.set("announced", "1");
    const here = ws = new WebSocket(location.origin.replace(/^http/, "ws") + box.dataset.stream + "?" + q);
    ws.binaryType = "arraybuffer";
    say("wait", tries || id ? "Reconnecting" : "Connecting");
    ws.onmessage = (e) => {
      if (typeof e.data !== "string") {
        const b = new Uint8Array(e.data);
        at += b.length;
        term.write(b, () => {
          if (here !== ws) return;
          shown += b.length;
          if (shown - reported > 65536) send({ type: "seen", at: (reported = shown) });
        });
        return;
      }
      const m = JSON.parse(e.data);
      if (m.type === "open") open(m);
      if (m.type === "at") { // the browser was too slow for all of it
        shown += m.at - at;
        at = m.at;
      }
      if (m.type === "end") end(m);
    };
    ws.onclose = () => {
      if (here !== ws) return;
      ws = null;
      if (!ended) again();
    };
  }
  function open(m) {
    tries = 0;
    old = m.run === run ? 0 : m.old; // a page that is loaded again is shown what another was
    id = m.id;
    run = m.run;
    at = shown = reported = m.at;
    store.setItem(kept, JSON.stringify({ id }));
    uncover();
    say("open", "Connected");
    $("quit").hidden = $("paste").hidden = false;
    $("again").hidden = true;
    $("recorded").hidden = !m.recorded;
    $("kept").textContent = m.kept
      ? "If the connection is lost or the server restarts, the terminal waits for you to come back."
      : "If the connection is lost, the terminal waits 10 min for you. It ends when the server restarts: to keep it then, too, install tmux on the node.";
    resize();
    term.focus();
  }
  function again() {
    tries++;
    const wait = Math.min(250 * 2 ** Math.min(tries - 1, 5), 5000);
    say("wait", navigator.onLine ? "Connection lost. Reconnecting" : "You are offline");
    if (why) cover(why.message, why.hint || "Trying again every few seconds.");
    else if (tries > 2) cover("The connection to Muster was lost.", "Trying again every few seconds. Your terminal keeps running.");
    why = null;
    timer = setTimeout(connect, wait);
    // A WebSocket doesn't say why it was refused.
    if (tries > 1) fetch(box.dataset.stream, { headers: { "Muster-Part": "terminal" } }).then((r) => {
      if (r.status !== 401 || ended) return;
      clearTimeout(timer);
      ended = true;
      say("end", "Signed out");
      link(cover("Your session has expired.", "Sign in again to continue this terminal."), location.pathname, "Sign in");
    }, () => {});
  }
  function link(where, to, text) {
    const a = document.createElement("a");
    a.href = to;
    a.className = "button primary";
    a.textContent = text;
    where.append(a);
    a.focus();
  }
  function button(where, text, act) {
    const b = document.createElement("button");
    b.type = "button";
    b.className = "primary";
    b.textContent = text;
    b.onclick = act;
    where.append(b);
    b.focus();
    return b;
  }
  function announce(message, hint) {
    ended = true;
    say("", "Not started");
    button(cover(message, hint), "Start recorded terminal", () => {
      uncover();
      ended = false;
      announced = true;
      connect();
    }).id = "term-start";
  }
  function end(m) {
    if (m.again && tries < 60) {
      why = m;
      return; // its close follows, and connects again
    }
    ended = true;
    store.removeItem(kept);
    if (m.reason === "announce") return announce(m.message, m.hint);
    $("quit").hidden = $("paste").hidden = true;
    if (m.reason === "step_up") {
      say("end", "Not started");
      return link(cover(m.message, m.hint), "/step-up?next=" + encodeURIComponent(location.pathname), "Re-authenticate");
    }
    say("end", "Ended");
    $("again").hidden = false;
    button(cover(m.message, m.hint), "Open new terminal", restart);
  }
  function restart() {
    clearTimeout(timer);
    store.removeItem(kept);
    id = run = "";
    at = shown = reported = old = tries = 0;
    ended = announced = false;
    $("again").hidden = $("recorded").hidden = true;
    uncover();
    term.reset();
    begin();
  }
  function begin() {
    if (!box.dataset.announce || id) return connect();
    announce("Terminals here are recorded.", "Everything that is shown on the screen is kept for " + box.dataset.announce + ". You and the admins of your tenant can play it.");
  }
  window.addEventListener("online", () => { if (!ws && !ended) connect(); });

  let sent = "";
  function resize() {
    fit.fit();
    const now = term.cols + "x" + term.rows;
    if (now !== sent || state.dataset.state !== "open") send({ type: "size", cols: term.cols, rows: term.rows });
    sent = now;
  }
  new ResizeObserver(() => requestAnimationFrame(resize)).observe(screen);

  // Typing. The Ctrl key of the bar applies to the next character.
  let ctrl = false;
  const ctrlKey = document.querySelector('[data-key="ctrl"]');
  function hold(on) {
    ctrl = on;
    ctrlKey.setAttribute("aria-pressed", String(on));
  }
  // Programs ask terminals what they are. What is shown again isn't answered again: the answer would be typed into the shell.
  const answer = /^\x1b(\[[?>=]?[\d;]*\$?[cnRyt]|[\]P])/;
  term.onData((d) => {
    if (shown < old && answer.test(d)) return;
    if (ctrl && d.length === 1) {
      d = String.fromCharCode(d.toUpperCase().charCodeAt(0) & 31);
      hold(false);
    }
    type(d);
  });
  term.onBinary((d) => send(Uint8Array.from(d, (c) => c.charCodeAt(0))));
  const keys = { esc: "\x1b", tab: "\t", up: "A", down: "B", right: "C", left: "D" };
  $("keys").addEventListener("click", (e) => {
    const key = e.target.dataset && e.target.dataset.key;
    if (!key) return;
    if (key === "ctrl") hold(!ctrl);
    else if (keys[key] && keys[key].length === 1 && keys[key] >= "A") type((term.modes.applicationCursorKeysMode ? "\x1bO" : "\x1b[") + keys[key]);
    else type(keys[key] || key);
    term.focus();
  });
  $("keys").addEventListener("mousedown", (e) => e.preventDefault()); // keeps the phone's keyboard open

  function copy() {
    if (term.hasSelection()) navigator.clipboard.writeText(term.getSelection()).catch(() => document.execCommand("copy"));
  }
  async function paste() {
    try { term.paste(await navigator.clipboard.readText()); } catch { say("open", "Allow this page to read the clipboard, or press Ctrl+Shift+V"); }
    term.focus();
  }
  term.attachCustomKeyEventHandler((e) => {
    if (e.type !== "keydown" || !e.ctrlKey || !e.shiftKey) return true;
    if (e.code === "KeyC") { e.preventDefault(); copy(); return false; }
    if (e.code === "KeyE") { e.preventDefault(); $("smaller").focus(); return false; }
    return e.code !== "KeyV";
  });
  term.onSelectionChange(() => { $("copy").hidden = !term.hasSelection(); });
  $("copy").onclick = copy;
  $("paste").onclick = paste;
  function font(by) {
    size = Math.min(Math.max(size + by, 8), 28);
    localStorage.setItem("terminal font", size);
    term.options.fontSize = size;
    resize();
  }
  $("smaller").onclick = () => font(-1);
  $("larger").onclick = () => font(1);
  $("quit").onclick = () => send({ type: "quit" });
  $("again").onclick = restart;
  $("reader").checked = reader;
  $("reader").onchange = (e) => {
    localStorage.setItem("terminal reader", e.target.checked ? "1" : "0");
    term.options.screenReaderMode = e.target.checked;
  };
  window.musterTerminal = term; // for tests
  begin();
})();
