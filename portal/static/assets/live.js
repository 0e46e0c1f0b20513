// What pages do beyond HTML: copy lines, step numbers, lead to the search. Pages that move by themselves have list.js too, a cluster's cluster.js.
// Every page works without it.
(function () {
  "use strict";
  const $ = (id) => document.getElementById(id);

  // Show what only works with a script.
  if (navigator.clipboard) document.querySelectorAll("[data-copy]").forEach((b) => { b.hidden = false; });

  document.addEventListener("click", (ev) => {
    const b = ev.target.closest("[data-copy]");
    if (!b) return;
    navigator.clipboard.writeText($(b.dataset.copy).textContent).then(() => {
      b.textContent = "Copied";
      setTimeout(() => { b.textContent = "Copy"; }, 1500);
    }, () => {});
  });

  // Scroll the current tab into view where not all tabs fit.
  document.querySelectorAll(".tabs [aria-current]").forEach((a) => {
    const bar = a.closest(".tabs"), over = a.getBoundingClientRect().right - bar.getBoundingClientRect().right;
    if (over > 0) bar.scrollLeft += over + 40;
  });

  // A number with a minus and a plus: without a script these lead to the preview at once.
  document.addEventListener("click", (ev) => {
    const b = ev.target.closest("[data-step]");
    const n = b && b.parentElement.querySelector("input");
    if (!n || !/^[0-9]+$/.test(n.value)) return;
    ev.preventDefault();
    n.value = Math.max(1, Number(n.value) + Number(b.dataset.step));
    n.dispatchEvent(new Event("input", { bubbles: true })); // as if it were typed
  });

  // Pages come with times in UTC. Show them in the reader's time zone: in the text, or on hover where the text is an age.
  const local = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit",
    second: "2-digit", hourCycle: "h23", timeZoneName: "short" });
  const forms = [
    [/^\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d(:\d\d)? UTC$/, (p, m) => `${p.day} ${p.month} ${p.year} ${p.hour}:${p.minute}${m[1] ? ":" + p.second : ""} ${p.timeZoneName}`],
    [/^\d\d:\d\d:\d\d( UTC)?$/, (p, m) => `${p.hour}:${p.minute}:${p.second}${m[1] ? " " + p.timeZoneName : ""}`],
  ];
  function inZone(text, moment) {
    for (const [form, write] of forms) {
      const m = form.exec(text);
      if (m) return write(Object.fromEntries(local.formatToParts(moment).map((x) => [x.type, x.value])), m);
    }
    return "";
  }
  // Times within sentences, in elements that are marked.
  const within = /\b\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d UTC\b/g;
  function localiseText(root) {
    const all = root.matches("[data-utc]") ? [root] : root.querySelectorAll("[data-utc]");
    for (const e of all) {
      const said = e.textContent.replace(within, (text) => inZone(text, new Date(text)));
      if (said !== e.textContent) { e.title = e.title || e.textContent.match(within).join(", "); e.textContent = said; }
    }
  }
  // Forms take times in UTC, as their labels say; with a script, in the reader's zone, which they send along.
  function localiseFields(root) {
    for (const f of root.querySelectorAll("input[data-moment]")) {
      const zone = f.form && f.form.elements.namedItem("zone"), label = f.labels[0] && f.labels[0].querySelector("[data-zone]");
      if (!zone || !label) continue;
      const moment = new Date(f.dataset.moment);
      if (!isNaN(moment)) f.defaultValue = new Date(moment - moment.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
      zone.value = label.textContent = local.resolvedOptions().timeZone;
      f.removeAttribute("data-moment");
    }
  }
  function localise(root) {
    localiseText(root);
    localiseFields(root);
    root.querySelectorAll("text[data-time]").forEach((t) => { t.textContent = inZone(t.textContent, new Date(t.dataset.time)) || t.textContent; });
    const all = root.matches("time[datetime]") ? [root] : root.querySelectorAll("time[datetime]");
    for (const t of all) {
      const moment = new Date(t.dateTime);
      if (isNaN(moment)) continue;
      const said = inZone(t.textContent.trim(), moment), hover = inZone(t.title, moment);
      if (hover) t.title = hover;
      if (said) {
        if (!t.title) t.title = t.textContent.trim() + (/UTC$/.test(t.textContent) ? "" : " UTC");
        t.textContent = said;
      }
    }
  }
  if (new Date().getTimezoneOffset() || local.resolvedOptions().timeZone !== "UTC") {
    localise(document.body);
    new MutationObserver((news) => news.forEach((n) => n.addedNodes.forEach((e) => { if (e.nodeType === Node.ELEMENT_NODE) localise(e); })))
      .observe(document.body, { childList: true, subtree: true });
  }

  // Keep ages and remaining times current without asking the server. The texts are those of humanize.Ago, Rough and Duration; see page.TickAgo.
  const sec = 1000, min = 60 * sec, hour = 60 * min, day = 24 * hour;
  function twoUnits(ms, large, largeName, small, smallName) {
    ms = Math.round(ms / small) * small;
    const rest = ms % large / small;
    return Math.floor(ms / large) + " " + largeName + (rest ? " " + rest + " " + smallName : "");
  }
  function duration(ms) {
    if (ms < sec) return "less than 1 s";
    if (ms < min - sec / 2) return Math.round(ms / sec) + " s";
    if (ms < hour - sec / 2) return twoUnits(ms, min, "min", sec, "s");
    if (ms < day - min / 2) return twoUnits(ms, hour, "h", min, "min");
    return twoUnits(ms, day, "d", hour, "h");
  }
  function rough(ms) {
    if (ms >= 7 * day) return Math.round(ms / day) + " d";
    if (ms >= 47 * hour) return duration(Math.max(ms, 2 * day));
    if (ms >= 2 * hour) return Math.round(ms / hour) + " h";
    if (ms >= hour - min / 2) return duration(Math.round(ms / min) * min);
    if (ms >= 2 * min) return Math.round(ms / min) + " min";
    return duration(ms);
  }
  const text = "(?:less than 1 s|\\d+ (?:s|min|h|d)(?: \\d+ (?:s|min|h))?)\\b";
  const ago = new RegExp("\\bjust now\\b|\\b" + text + " ago\\b"), until = new RegExp("\\b(in|about) " + text), lasting = new RegExp("\\b" + text);
  const writeAgo = (ms) => ms < sec ? "just now" : rough(ms) + " ago";
  const kinds = {
    ago: [ago, (passed) => writeAgo(passed)],
    until: [until, (passed, m, least) => m[1] + " " + rough(Math.max(-passed, least))],
    "until-exactly": [until, (passed, m, least) => m[1] + " " + duration(Math.max(-passed, least))],
    for: [lasting, duration],
  };
  function tickOne(e, kind, at, least, now) {
    const [form, write] = kinds[kind];
    const nodes = document.createTreeWalker(e, NodeFilter.SHOW_TEXT);
    for (let n; (n = nodes.nextNode());) {
      const m = form.exec(n.nodeValue);
      if (!m) continue;
      const fresh = n.nodeValue.slice(0, m.index) + write(now - at, m, least) + n.nodeValue.slice(m.index + m[0].length);
      if (fresh !== n.nodeValue) n.nodeValue = fresh;
      return;
    }
  }
  const ahead = document.body.dataset.now ? Date.now() - document.body.dataset.now : NaN;
  function tickAll() {
    if (document.hidden) return;
    const now = Date.now() - ahead;
    for (const e of document.querySelectorAll("[data-tick]")) tickOne(e, e.dataset.tick, Number(e.dataset.at), Number(e.dataset.least || 0), now);
    for (const e of document.querySelectorAll("time[datetime]")) if (ago.test(e.textContent)) tickOne(e, "ago", Date.parse(e.dateTime), 0, now);
  }
  if (!isNaN(ahead)) {
    setInterval(tickAll, sec);
    document.addEventListener("visibilitychange", tickAll);
  }

  // "/" leads to the search, from wherever nothing is being typed; Escape and a click elsewhere close the menu.
  document.addEventListener("keydown", (ev) => {
    const menu = document.querySelector(".account-menu[open]"), seek = $("seek");
    if (ev.key === "Escape" && menu) { menu.open = false; menu.firstElementChild.focus(); }
    if (ev.key !== "/" || ev.ctrlKey || ev.metaKey || ev.altKey || !seek || ev.target.closest("input, select, textarea, [contenteditable]")) return;
    ev.preventDefault();
    seek.focus();
    seek.select();
  });
  document.addEventListener("click", (ev) => {
    const menu = document.querySelector(".account-menu[open]");
    if (menu && !menu.contains(ev.target)) menu.open = false;
  });
})();
