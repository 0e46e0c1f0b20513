// Pages that move by themselves: one event stream for each, as portal/live.go describes. Every page works without it.
(function () {
  "use strict";
  const address = "/live?page=" + encodeURIComponent(location.pathname + location.search);
  const deaf = 40000; // after so long without a word, milliseconds, the line is dead
  let source = null, trouble = 0, timer = 0, heard = 0;
  const byId = (id) => document.getElementById(id);

  function parse(html) {
    const t = document.createElement("template");
    t.innerHTML = html;
    return t.content.firstElementChild;
  }

  // Put a new element in the place of an old one; what a person did with the old one stays: ticks, what is typed, what is
  // unfolded, where it was rolled to, and the focus.
  function replace(old, fresh) {
    if (!old || !fresh || old.isEqualNode(fresh)) return old;
    const marks = ["name", "value", "href", "aria-label"];
    const alike = (root, e) => e.id ? root.querySelector("#" + CSS.escape(e.id)) :
      [...root.querySelectorAll(e.tagName)].find((f) => f.className === e.className && marks.every((m) => f.getAttribute(m) === e.getAttribute(m)));
    old.querySelectorAll("input, select, textarea, details").forEach((e) => {
      const f = alike(fresh, e);
      if (!f || f.tagName !== e.tagName) return;
      if (e.tagName === "DETAILS") f.open = e.open;
      else if (e.type === "checkbox" || e.type === "radio") { if (e.checked !== e.defaultChecked) f.checked = e.checked; }
      else if (e.type !== "hidden" && e.value !== e.defaultValue && e.tagName !== "SELECT") f.value = e.value;
      else if (e.tagName === "SELECT" && document.activeElement === e) f.value = e.value;
    });
    const rolls = ".scroll, .box, pre";
    const rolled = [...old.querySelectorAll(rolls)].map((e) => [e.scrollLeft, e.scrollTop]);
    const focused = old.contains(document.activeElement) ? document.activeElement : null;
    old.replaceWith(fresh);
    fresh.querySelectorAll(rolls).forEach((e, i) => { if (rolled[i]) [e.scrollLeft, e.scrollTop] = rolled[i]; });
    const again = focused && (focused === old ? fresh : alike(fresh, focused));
    if (again) again.focus({ preventScroll: true });
    return fresh;
  }

  function arrange(list) {
    const box = byId(list.id);
    if (!box) return;
    const keep = new Set(list.order);
    [...box.children].forEach((e) => { if (!keep.has(e.id)) e.remove(); });
    let place = box.firstElementChild;
    for (const id of list.order) {
      let row = byId(id);
      const html = (list.rows || {})[id];
      if (row && html) {
        const was = row;
        row = replace(row, parse(html));
        if (place === was) place = row;
      } else if (!row && html) row = parse(html);
      if (!row) continue;
      if (row !== place) box.insertBefore(row, place); // moving takes the focus away, so what stands right is not moved
      else place = place.nextElementSibling;
    }
  }

  function change(data) {
    for (const [id, html] of data.parts || []) replace(byId(id), parse(html));
    for (const list of data.lists || []) arrange(list);
    for (const [name, n] of Object.entries(data.counts || {})) {
      document.querySelectorAll('[data-count-of="' + name + '"]').forEach((e) => { e.textContent = n > 99 ? "99+" : n; e.hidden = !n; });
    }
    document.dispatchEvent(new CustomEvent("muster:changed"));
  }

  function say(text, reload) {
    const line = byId("news");
    line.hidden = !text;
    line.firstElementChild.textContent = text;
    line.querySelector("a").hidden = !reload;
  }

  function close() {
    clearTimeout(timer);
    if (source) source.close();
    source = null;
  }

  // The stream was refused. Who is not signed in any more is led to where that is done, and then back here.
  function refused() {
    close();
    trouble++;
    fetch(address, { headers: { "Muster-Part": "probe" } }).then((r) => {
      if (r.status === 401 || r.status === 403 || r.status === 404 || (r.ok && trouble > 8)) location.reload();
    }, () => {});
    timer = setTimeout(open, Math.min(30000, 500 * 2 ** trouble));
  }

  function open() {
    if (source || document.hidden) return;
    clearTimeout(timer);
    heard = Date.now();
    const es = source = new EventSource(address);
    const word = (name, act) => es.addEventListener(name, (ev) => { heard = Date.now(); trouble = 0; if (act) act(ev); });
    es.onopen = () => { heard = Date.now(); if (byId("news").dataset.version !== "old") say(""); };
    es.onerror = () => {
      if (byId("news").dataset.version !== "old") say("Connection lost. Reconnecting…");
      if (es.readyState === EventSource.CLOSED && source === es) refused(); // otherwise it comes back by itself
    };
    word("still");
    word("change", (ev) => { change(JSON.parse(ev.data)); });
    word("version", (ev) => {
      if (ev.data === document.body.dataset.version) return;
      byId("news").dataset.version = "old";
      say("Muster was updated.", true);
    });
  }

  // Links that select all rows, or none, do so without loading the page again.
  document.addEventListener("click", (ev) => {
    const link = ev.target.closest("[data-tick]");
    if (!link || ev.ctrlKey || ev.metaKey || ev.shiftKey) return;
    ev.preventDefault();
    document.querySelectorAll(".row-tick input").forEach((e) => { e.checked = link.dataset.tick === "all"; });
  });

  open();
  // A hidden page costs nothing; it catches up when it is shown again.
  document.addEventListener("visibilitychange", () => { if (document.hidden) close(); else open(); });
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", open);
  window.addEventListener("online", () => { close(); open(); });
  setInterval(() => { if (source && Date.now() - heard > deaf) { close(); open(); } }, 10000);
})();
