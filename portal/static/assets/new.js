// The form for a new cluster: copy its link, find a template among many, and mark fields that are wrong. It works without.
(function () {
  "use strict";
  const $ = (id) => document.getElementById(id);
  function dress() {
    if (navigator.clipboard) document.querySelectorAll("[data-copy-link]").forEach((b) => { b.hidden = false; });
    document.querySelectorAll("#new [aria-describedby]").forEach((e) => {
      const wrong = e.getAttribute("aria-describedby").split(" ").some((id) => id.startsWith("err-") && $(id) && $(id).textContent.trim());
      if (!/^(INPUT|SELECT|TEXTAREA)$/.test(e.tagName) || e.type === "radio") return;
      if (wrong) e.setAttribute("aria-invalid", "true"); else e.removeAttribute("aria-invalid");
    });
  }
  dress();
  document.addEventListener("htmx:afterSettle", dress);
  document.addEventListener("htmx:oobAfterSwap", dress);

  // Fields of the chosen provider only.
  document.addEventListener("change", (ev) => {
    const all = $("provider_values");
    if (!all || ev.target.id !== "provider") return;
    const chosen = ev.target.value || all.dataset.providerDefault;
    for (const e of all.querySelectorAll("[data-provider]")) e.hidden = e.dataset.provider !== chosen;
  }, true);

  document.addEventListener("click", (ev) => {
    const b = ev.target.closest("[data-copy-link]");
    if (!b) return;
    navigator.clipboard.writeText($(b.dataset.copyLink).href).then(() => {
      b.textContent = "Copied";
      setTimeout(() => { b.textContent = "Copy link"; }, 1500);
    }, () => {});
  });

  document.querySelectorAll("[data-filters]").forEach((q) => {
    q.parentElement.hidden = false;
    q.addEventListener("input", (ev) => {
      ev.stopPropagation(); // it is no part of what is asked for
      const words = q.value.toLowerCase().split(/\s+/);
      for (const e of $(q.dataset.filters).children) {
        const text = e.textContent.toLowerCase();
        e.hidden = !words.every((w) => text.includes(w));
      }
    });
    // Tab leads into a group of choices only at what is chosen, so from here Enter or the arrow chooses the first that was found: when the
    // key is let go, or it would send the form from there.
    const chooses = (ev) => ev.key === "Enter" || ev.key === "ArrowDown";
    q.addEventListener("keydown", (ev) => { if (chooses(ev)) ev.preventDefault(); });
    q.addEventListener("keyup", (ev) => {
      if (!chooses(ev)) return;
      const found = [...$(q.dataset.filters).children].find((e) => !e.hidden);
      const first = found && found.querySelector("input");
      if (first) { first.focus(); first.click(); }
    });
  });
})();
