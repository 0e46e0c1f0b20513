// A cluster's page follows its event stream. It works without this.
(function () {
  "use strict";
  const page = document.getElementById("live");
  const meant = document.querySelector(".lines .meant");
  if (meant) meant.parentElement.scrollTop = meant.offsetTop - meant.parentElement.offsetTop - 80;
  if (!page) return;
  const $ = (id) => document.getElementById(id);
  const keep = 2000, fields = "input:not([type=hidden], [type=submit], [type=button]), textarea, select";
  let source = null, first = true, after = page.dataset.after, trouble = 0, timer = 0, announced = "", announcedAt = 0, over = false;

  // Keep what people type: a part with the focus in it is updated later, and typed values are carried over.
  const waiting = new Map();
  let pressed = false;
  const differs = (f) => f.type === "checkbox" || f.type === "radio" ? f.checked !== f.defaultChecked :
    f.tagName === "SELECT" ? [...f.options].some((o) => o.selected !== o.defaultSelected) : f.value !== f.defaultValue;
  function isEdited(part) {
    const at = document.activeElement;
    if (!at || !part.contains(at)) return pressed && part.contains(pressed);
    return at.matches(fields) || (at.form && [...at.form.elements].some((f) => f.matches(fields) && differs(f)));
  }
  function copyInput(old, fresh) {
    for (const f of old.querySelectorAll(fields)) {
      if (!differs(f) || !f.form) continue;
      const to = [...fresh.querySelectorAll(fields)].find((x) => x.name === f.name && x.id === f.id && x.form && x.form.getAttribute("action") === f.form.getAttribute("action"));
      if (!to) continue;
      if (f.type === "checkbox" || f.type === "radio") to.checked = f.checked; else to.value = f.value;
    }
    const title = (d) => d.firstElementChild ? d.firstElementChild.textContent.trim() : "";
    const open = [...old.querySelectorAll("details")].filter((d) => d.open).map(title);
    for (const d of fresh.querySelectorAll("details")) if (open.includes(title(d))) d.open = true;
  }

  function swap(fresh) {
    const old = $(fresh.id);
    if (!old) return;
    if (isEdited(old)) { waiting.set(fresh.id, fresh); return; }
    waiting.delete(fresh.id);
    const focused = old.contains(document.activeElement) ? document.activeElement : null;
    const scrollers = ".scroll, .box, .copy code, pre";
    const scrolls = [...old.querySelectorAll(scrollers)].map((e) => [e.scrollLeft, e.scrollTop]);
    copyInput(old, fresh);
    old.replaceWith(fresh);
    fresh.querySelectorAll(scrollers).forEach((e, i) => { if (scrolls[i]) [e.scrollLeft, e.scrollTop] = scrolls[i]; });
    if (navigator.clipboard) fresh.querySelectorAll("[data-copy]").forEach((b) => { b.hidden = false; });
    if (focused) {
      const again = focused.id ? $(focused.id) :
        [...fresh.querySelectorAll("a[href], button, summary")].find((e) => e.getAttribute("href") === focused.getAttribute("href") &&
          e.dataset.copy === focused.dataset.copy && e.getAttribute("aria-label") === focused.getAttribute("aria-label"));
      if (again) again.focus({ preventScroll: true });
    }
  }
  const applyWaiting = () => { for (const fresh of [...waiting.values()]) swap(fresh); };
  document.addEventListener("focusout", () => setTimeout(applyWaiting, 0));
  document.addEventListener("pointerdown", (ev) => { pressed = ev.target; });
  for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, () => setTimeout(() => { pressed = false; applyWaiting(); }, 200));

  function parts(html) {
    const t = document.createElement("template");
    t.innerHTML = html;
    for (const fresh of [...t.content.children]) swap(fresh);
    announce();
  }

  // Tell those who listen how far it is, but not more often than they can bear.
  function announce() {
    const text = $("sentence") ? $("sentence").textContent : "";
    if (text === announced || (document.querySelector("#now progress") && Date.now() - announcedAt < 15000)) return;
    announced = text;
    announcedAt = Date.now();
    $("said").textContent = text;
  }

  // The states that people read differently; see StepState.Words.
  const readAs = { asked: "waiting for an answer", dropped: "skipped" };
  const stateWords = (state) => readAs[state] || state;

  function paint(data) {
    for (const [id, [state, attempt]] of Object.entries(data.cells || {})) {
      const cell = $(id);
      if (!cell) continue;
      cell.className = "m m-" + state;
      cell.title = cell.title.replace(/: [^:]*$/, ": " + stateWords(state) + (attempt > 1 ? ", attempt " + attempt : ""));
      cell.firstElementChild.textContent = stateWords(state);
    }
    for (const [state, n] of Object.entries(data.counts || {})) {
      const b = document.querySelector('[data-count="' + state + '"]');
      if (b) b.textContent = n;
    }
  }

  function shapes(data) {
    for (const [id, [state, words, fill]] of Object.entries(data)) {
      const g = $(id);
      if (!g) continue;
      const critical = g.classList.contains("g-critical");
      g.setAttribute("class", "g-" + state + (critical ? " g-critical" : ""));
      g.querySelector(".gf").setAttribute("width", fill);
      g.querySelector(".gs").setAttribute("href", "#gs-" + state);
      g.querySelector(".gt").textContent = words.length > 18 ? words.slice(0, 17) + "…" : words;
      const title = g.querySelector("title"), what = $(id + "on");
      title.textContent = title.textContent.split(", ")[0] + ", " + words + ": " + stateWords(state);
      if (what) { what.textContent = words; $(id + "is").textContent = stateWords(state); }
    }
  }

  // Where now is on a timeline; the server's clock is told by the page.
  function tick() {
    const gantt = $("gantt");
    if (!gantt || gantt.dataset.moves !== "true" || document.hidden) return;
    const x = Math.round(1000 * (Date.now() - skew - gantt.dataset.start) / gantt.dataset.span) / 10 + "%";
    for (const svg of gantt.querySelectorAll("tbody svg")) {
      let line = svg.querySelector(".gnow");
      if (!line) {
        line = document.createElementNS("http://www.w3.org/2000/svg", "line");
        for (const [k, v] of Object.entries({ class: "gnow", y1: 0, y2: 18 })) line.setAttribute(k, v);
        svg.append(line);
      }
      line.setAttribute("x1", x);
      line.setAttribute("x2", x);
    }
  }
  const skew = page.dataset.now ? Date.now() - page.dataset.now : 0;
  if ($("gantt")) setInterval(tick, 1000);

  // The log
  const lines = $("lines"), follow = $("follow");
  const toEnd = () => { if (follow && follow.checked) lines.scrollTop = lines.scrollHeight; };
  if (follow && page.dataset.live) {
    follow.parentElement.hidden = false;
    toEnd();
    // A log that was folded away had no height.
    for (const d of document.querySelectorAll("details.fold")) d.addEventListener("toggle", toEnd);
    lines.addEventListener("scroll", () => {
      follow.checked = lines.scrollHeight - lines.scrollTop - lines.clientHeight < 24;
    }, { passive: true });
    follow.addEventListener("change", toEnd);
    new ResizeObserver(toEnd).observe(lines);
  }
  function append(rows) {
    if (!lines) return;
    const all = document.createDocumentFragment();
    for (const [seq, time, step, stream, text] of rows) {
      const li = document.createElement("li"), a = document.createElement("a"), t = document.createElement("time"), b = document.createElement("b"), s = document.createElement("span");
      li.className = "l-" + stream;
      li.id = "L" + seq;
      a.href = page.dataset.logs + "?line=" + seq + "#L" + seq;
      t.dateTime = time;
      t.textContent = time.slice(11, 19); // in UTC; live.js puts it into the zone of the reader
      b.textContent = step;
      s.textContent = text;
      a.append(t);
      li.append(a, b, s);
      all.append(li);
    }
    lines.append(all);
    while (lines.childElementCount > keep) lines.firstElementChild.remove();
    if ($("nolines")) $("nolines").hidden = true;
    toEnd();
  }

  function close() {
    clearTimeout(timer);
    if (source) source.close();
    source = null;
  }

  function open() {
    if (source || over || document.hidden || !page.dataset.live) return;
    // The page knows what it came with; what it shows after an update is not what it came with.
    const es = source = new EventSource(page.dataset.live + (page.dataset.live.includes("?") ? "&" : "?") + "after=" + after + (first ? "&have=" + page.dataset.have : ""));
    first = false;
    es.onopen = () => { trouble = 0; $("line").hidden = true; };
    es.onerror = () => {
      if (source !== es) return;
      $("line").hidden = false;
      if (es.readyState !== EventSource.CLOSED) return; // it comes back by itself
      close();
      // Signed out, or the server refuses: loading the page again says which.
      if (++trouble > 5) { location.reload(); return; }
      timer = setTimeout(open, 1000 * 2 ** trouble);
    };
    es.addEventListener("part", (ev) => parts(ev.data));
    es.addEventListener("steps", (ev) => paint(JSON.parse(ev.data)));
    es.addEventListener("shapes", (ev) => shapes(JSON.parse(ev.data)));
    es.addEventListener("log", (ev) => { after = ev.lastEventId; append(JSON.parse(ev.data)); });
    es.addEventListener("end", () => { over = true; close(); $("line").hidden = true; });
  }

  open();
  // A hidden page costs nothing; it catches up when it is shown again.
  document.addEventListener("visibilitychange", () => { if (document.hidden) close(); else open(); });
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", (ev) => { if (ev.persisted) open(); });
})();
