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
