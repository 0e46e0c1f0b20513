// Pages fetch what takes long to add up when the rest of them stands. Without a script links lead there.
(function () {
  "use strict";
  document.querySelectorAll("[data-fill]").forEach((old) => {
    fetch(old.dataset.fill, { headers: { "Muster-Part": "cost" } }).then((r) => (r.ok ? r.text() : "")).then((html) => {
      const t = document.createElement("template");
      t.innerHTML = html;
      if (t.content.firstElementChild) old.replaceWith(t.content.firstElementChild);
    }, () => {});
  });
})();
