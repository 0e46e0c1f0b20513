// What xterm.js needs of the page's policy. It adds style sheets of its own, which are let in by a nonce, and writes style attributes, which the policy
// refuses: set through an element's style, they are allowed.
(function () {
  "use strict";
  const box = document.querySelector("[data-nonce]");
  if (!box) return;
  const create = document.createElement.bind(document);
  document.createElement = function (tag, o) {
    const e = create(tag, o);
    if (String(tag).toLowerCase() === "style") e.nonce = box.dataset.nonce;
    return e;
  };
  const setAttribute = Element.prototype.setAttribute;
  Element.prototype.setAttribute = function (name, value) {
    if (name === "style" && this.style) this.style.cssText = value;
    else setAttribute.call(this, name, value);
  };
  // Links that programs show open in a new tab, without a way back, and only pages of the web.
  window.musterTerminalOptions = {
    theme: { background: "#101613", foreground: "#e5ece7", cursor: "#62d5b2", selectionBackground: "#3a5f54" },
    fontFamily: getComputedStyle(document.documentElement).getPropertyValue("--mono"), minimumContrastRatio: 4.5, scrollback: 5000,
    linkHandler: {
      activate: (e, text) => {
        if (/^https?:\/\//i.test(text) && window.confirm("Open " + text + "?")) window.open(text, "_blank", "noopener,noreferrer");
      },
    },
  };
})();
