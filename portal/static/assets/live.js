// What pages do beyond HTML: follow a cluster's event stream, refresh the list while something moves, copy lines.
// Every page works without it.
(function () {
  "use strict";
  const $ = (id) => document.getElementById(id);

  // Replace a part of the page by new HTML, and keep focus, scrolling and unfolded copy buttons where they were.
  function swap(id, html) {
    const old = $(id);
    if (!old) return;
    const t = document.createElement("template");
    t.innerHTML = html;
    const fresh = t.content.firstElementChild;
    if (!fresh) return;
    const focused = old.contains(document.activeElement) ? document.activeElement : null;
    const rolls = ".scroll, .box, .copy code, pre";
    const rolled = [...old.querySelectorAll(rolls)].map((e) => [e.scrollLeft, e.scrollTop]);
    old.replaceWith(fresh);
    fresh.querySelectorAll(rolls).forEach((e, i) => { if (rolled[i]) [e.scrollLeft, e.scrollTop] = rolled[i]; });
    dress(fresh);
    if (focused) {
      const again = focused.id ? $(focused.id) :
        [...fresh.querySelectorAll("a[href], button")].find((e) => e.getAttribute("href") === focused.getAttribute("href") && e.dataset.copy === focused.dataset.copy);
      if (again) again.focus({ preventScroll: true });
    }
  }

  // Show what only works with a script.
  function dress(root) {
    if (navigator.clipboard) root.querySelectorAll("[data-copy]").forEach((b) => { b.hidden = false; });
  }
  dress(document);

  document.addEventListener("click", (ev) => {
    const b = ev.target.closest("[data-copy]");
    if (!b) return;
    navigator.clipboard.writeText($(b.dataset.copy).textContent).then(() => {
      b.textContent = "Copied";
      setTimeout(() => { b.textContent = "Copy"; }, 1500);
    }, () => {});
  });

  // A number with a minus and a plus: without a script these lead to the preview at once.
  document.addEventListener("click", (ev) => {
    const b = ev.target.closest("[data-step]");
    const n = b && b.parentElement.querySelector("input");
    if (!n || !/^[0-9]+$/.test(n.value)) return;
    ev.preventDefault();
    n.value = Math.max(1, Number(n.value) + Number(b.dataset.step));
  });

  // The list of clusters: ask again every few seconds while something moves and somebody looks.
  function refreshList() {
    const list = $("list");
    if (!list || !list.dataset.refresh || document.hidden) return;
    fetch(list.dataset.refresh, { headers: { "Muster-Part": "list" } }).then((r) => {
      if (r.status === 401) location.reload();
      return r.ok ? r.text() : null;
    }).then((html) => { if (html) swap("list", html); }, () => {});
  }
  if ($("list")) {
    setInterval(refreshList, 4000);
    document.addEventListener("visibilitychange", refreshList);
  }

  // A cluster's page.
  const page = $("live");
  if (!page) return;
  const lines = $("lines"), follow = $("follow"), keep = 2000;
  let source = null, after = page.dataset.after, trouble = 0, timer = 0, said = "", saidAt = 0;
  follow.parentElement.hidden = false;
  const toEnd = () => { if (follow.checked) lines.scrollTop = lines.scrollHeight; };
  toEnd();
  lines.addEventListener("scroll", () => {
    follow.checked = lines.scrollHeight - lines.scrollTop - lines.clientHeight < 24;
  }, { passive: true });
  follow.addEventListener("change", toEnd);
  new ResizeObserver(toEnd).observe(lines);

  // Tell those who listen how far it is, but not more often than they can bear.
  function announce() {
    const text = $("sentence") ? $("sentence").textContent : "";
    const running = !!document.querySelector("#head progress");
    if (text === said || (running && Date.now() - saidAt < 15000)) return;
    said = text;
    saidAt = Date.now();
    $("said").textContent = text;
  }

  function paint(data) {
    for (const [id, [state, attempt]] of Object.entries(data.cells)) {
      const cell = $(id);
      if (!cell) continue;
      cell.className = "m m-" + state;
      cell.title = cell.title.replace(/: [^:]*$/, ": " + state + (attempt > 1 ? ", try " + attempt : ""));
      cell.firstElementChild.textContent = state;
    }
    for (const [state, n] of Object.entries(data.counts)) {
      const b = document.querySelector('[data-count="' + state + '"]');
      if (b) b.textContent = n;
    }
  }

  function append(rows) {
    const all = document.createDocumentFragment();
    for (const [time, step, stream, text] of rows) {
      const li = document.createElement("li"), t = document.createElement("time"), b = document.createElement("b"), s = document.createElement("span");
      li.className = "l-" + stream;
      t.textContent = time;
      b.textContent = step;
      s.textContent = text;
      li.append(t, b, s);
      all.append(li);
    }
    lines.append(all);
    while (lines.childElementCount > keep) lines.firstElementChild.remove();
    $("nolines").hidden = true;
    toEnd();
  }

  function close() {
    clearTimeout(timer);
    if (source) source.close();
    source = null;
  }

  function open() {
    if (source || document.hidden) return;
    const es = source = new EventSource(page.dataset.live + "&after=" + after);
    es.onopen = () => { trouble = 0; $("line").hidden = true; };
    es.onerror = () => {
      $("line").hidden = false;
      if (es.readyState !== EventSource.CLOSED) return; // it comes back by itself
      close();
      // Signed out, or the server refuses: loading the page again says which.
      if (++trouble > 5) { location.reload(); return; }
      timer = setTimeout(open, 1000 * 2 ** trouble);
    };
    for (const part of ["head", "questions", "waiting", "plan", "nodes", "change", "more"]) {
      es.addEventListener(part, (ev) => { swap(part, ev.data); if (part === "head") announce(); });
    }
    es.addEventListener("steps", (ev) => paint(JSON.parse(ev.data)));
    es.addEventListener("log", (ev) => { after = ev.lastEventId; append(JSON.parse(ev.data)); });
    es.addEventListener("end", () => { close(); page.dataset.running = "false"; $("line").hidden = true; });
  }

  if (page.dataset.running === "true") open();
  // A page that nobody sees costs nothing. Seen again, it catches up, also when nothing ran before.
  document.addEventListener("visibilitychange", () => { if (document.hidden) close(); else open(); });
  window.addEventListener("pagehide", close);
})();
