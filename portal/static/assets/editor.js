// The catalog's editor: line numbers with marks, links that lead to a line, Tab that indents, and text and fields that keep in step
// without losing what is being typed. Without it the same form works by its buttons.
(function () {
  "use strict";
  const $ = (id) => document.getElementById(id);
  const form = $("editor"), gutter = $("gutter");
  if (!form || !gutter) return;
  gutter.hidden = false;
  form.classList.add("scripted");
  let leaving = false; // Escape was pressed: Tab leaves the text
  let sent = "", lines = 0;
  let busy = null; // the button of a list of rows whose answer is on its way
  let pressed = ""; // what it does
  const text = () => $("text");
  const lineAt = (pos) => text().value.slice(0, pos).split("\n").length;

  // The numbers beside the text, with a mark where something is wrong.
  function numberLines() {
    const marks = new Map();
    document.querySelectorAll("#problems [data-line]").forEach((li) => {
      const n = Number(li.dataset.line);
      if (n > 0 && marks.get(n) !== "error") marks.set(n, li.className.includes("error") ? "error" : "warning");
    });
    const count = text().value.split("\n").length;
    const all = document.createDocumentFragment();
    for (let n = 1; n <= count; n++) {
      const d = document.createElement("div");
      d.textContent = n;
      if (marks.has(n)) d.className = "mark-" + marks.get(n);
      all.append(d);
    }
    gutter.replaceChildren(all);
    lines = count;
    roll();
  }
  const roll = () => { gutter.scrollTop = text().scrollTop; };

  function attach() {
    const t = text();
    if (t.dataset.attached) return;
    t.dataset.attached = "true";
    t.addEventListener("scroll", roll, { passive: true });
    t.addEventListener("keydown", onKey);
    t.addEventListener("blur", () => { leaving = false; });
    for (const ev of ["keyup", "click", "focus"]) t.addEventListener(ev, () => { $("line").value = lineAt(t.selectionStart); });
  }

  function onKey(ev) {
    const t = ev.target;
    if (ev.key === "Escape") { leaving = true; return; }
    if (ev.key !== "Tab" || ev.ctrlKey || ev.altKey || ev.metaKey) { if (ev.key !== "Shift") leaving = false; return; }
    if (leaving) { leaving = false; return; }
    ev.preventDefault();
    const from = t.value.lastIndexOf("\n", t.selectionStart - 1) + 1, to = t.selectionEnd;
    const several = t.value.slice(t.selectionStart, to).includes("\n");
    if (!ev.shiftKey && !several) { t.setRangeText("  ", t.selectionStart, to, "end"); } else {
      const part = t.value.slice(from, to);
      t.setRangeText(ev.shiftKey ? part.replace(/^ {1,2}/gm, "") : part.replace(/^(?=.)/gm, "  "), from, to, several ? "select" : "end");
    }
    t.dispatchEvent(new Event("input", { bubbles: true }));
  }

  // Links that lead to a line.
  document.addEventListener("click", (ev) => {
    const a = ev.target.closest("[data-jump]");
    if (!a) return;
    ev.preventDefault();
    const t = text(), all = t.value.split("\n"), n = Math.min(Number(a.dataset.jump), all.length);
    const start = all.slice(0, n - 1).reduce((sum, l) => sum + l.length + 1, 0);
    t.focus();
    t.setSelectionRange(start, start + all[n - 1].length);
    t.scrollTop = Math.max(0, (n - 6) * (t.scrollHeight / all.length));
    $("line").value = n;
    roll();
  });

  // What was typed in tells which side follows.
  form.addEventListener("input", (ev) => {
    pressed = "";
    $("from").value = ev.target.id === "text" ? "text" : "fields";
    if (ev.target.id === "text" && ev.target.value.split("\n").length !== lines) numberLines();
  }, true);

  document.body.addEventListener("htmx:configRequest", (ev) => {
    sent = text().value;
    const p = ev.detail.parameters;
    // htmx then sends the button that was pressed last; what a form sends by itself has none.
    if (ev.detail.elt === form) p.do = "check";
    document.querySelectorAll("[data-secret]").forEach((i) => { if (p.delete) p.delete(i.name); else delete p[i.name]; });
  });
  // What a button of a row sends has all fields, so the form doesn't send them too: that would cancel the button's request.
  document.body.addEventListener("htmx:confirm", (ev) => {
    const elt = ev.detail.elt;
    if (elt === form && busy) ev.preventDefault();
    if (elt.name === "do" && elt.closest("#fields")) { busy = elt; pressed = elt.value; }
  });
  document.body.addEventListener("htmx:afterRequest", (ev) => { if (ev.detail.requestConfig && ev.detail.requestConfig.elt === busy) busy = null; });
  // An answer to what has been typed over meanwhile is dropped; the next one is on its way.
  document.body.addEventListener("htmx:beforeSwap", (ev) => {
    if (ev.detail.requestConfig && ev.detail.requestConfig.elt.closest("form#editor") && text().value !== sent) ev.detail.shouldSwap = false;
  });
  document.body.addEventListener("htmx:oobBeforeSwap", (ev) => {
    const old = ev.detail.target, fresh = ev.detail.fragment.firstElementChild || ev.detail.fragment;
    if (old.id === "reference" && old.open && fresh.setAttribute) fresh.setAttribute("open", "");
    if (old.id === "fields" && fresh.querySelectorAll) {
      // Parts stay folded or unfolded as people left them, unless something is wrong in them, and secrets stay typed.
      old.querySelectorAll("details[id]").forEach((d) => {
        const f = fresh.querySelector("#" + CSS.escape(d.id));
        if (f && !f.querySelector(".complaint strong")) f.open = d.open || f.open && !d.dataset.seen;
        if (f) f.dataset.seen = "true";
      });
      old.querySelectorAll("[data-secret]").forEach((i) => {
        const f = fresh.querySelector("#" + CSS.escape(i.id));
        if (f) f.value = i.value;
      });
    }
  });
  document.body.addEventListener("htmx:afterSettle", () => { attach(); numberLines(); follow(); });

  // The keyboard follows a row that was added or moved.
  function follow() {
    const [act, place] = pressed.split(":");
    if (!place || document.activeElement !== document.body) return;
    const by = { up: -1, down: 1 }[act];
    if (!by && act !== "add") return;
    const there = by ? place.replace(/\d+$/, (n) => Number(n) + by) : place;
    const named = (attr, value) => form.querySelector("[" + attr + '="' + CSS.escape(value) + '"]');
    const to = by ? named("value", act + ":" + there) || named("value", (act === "up" ? "down:" : "up:") + there) : named("name", there);
    if (!to) return;
    pressed = "";
    to.focus();
  }
  if (innerWidth < 992) $("reference").open = false;
  attach();
  numberLines();
})();
