// Days of the activity in the browser's time zone. Without this script they are in UTC, as the times are.
(function () {
  "use strict";
  const list = document.getElementById("activity");
  const form = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", year: "numeric" });
  function group() {
    let before = "";
    for (const row of list.children) {
      const head = row.querySelector(".day"), time = row.querySelector("time");
      if (!head || !time) continue;
      const day = form.format(new Date(time.dateTime)).replace(",", "");
      if (head.textContent !== day) head.textContent = day;
      if (head.hidden !== (day === before)) head.hidden = day === before;
      before = day;
    }
  }
  if (!list) return;
  group();
  new MutationObserver(group).observe(list, { childList: true });
})();
