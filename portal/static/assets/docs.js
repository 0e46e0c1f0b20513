// Scroll the list of pages to the current one.
"use strict";
(() => {
  const list = document.querySelector(".book-side .wide"), here = list && list.querySelector("[aria-current]");
  if (here) list.scrollTop += here.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 3;
})();
