// Uploads to a node one by one, with their progress. Without this script, the form sends all files at once.
(function () {
  "use strict";
  const form = document.querySelector(".files-form");
  if (!form) return;
  const input = form.elements.file, list = document.getElementById("copies"), send = form.querySelector("[type=submit]");
  const cancel = document.getElementById("upload-cancel"), reload = document.getElementById("upload-list");
  const most = Number(form.dataset.max);
  const here = new Set([...document.querySelectorAll("[data-file]")].map((e) => e.dataset.file));
  let now = null, stopped = false;

  function line(file) {
    const li = document.createElement("li");
    const name = document.createElement("b"), bar = document.createElement("progress"), text = document.createElement("span");
    name.textContent = file.name;
    bar.max = 1;
    bar.value = 0;
    bar.setAttribute("aria-label", "Progress of " + file.name);
    text.textContent = "Waiting";
    li.append(name, text, bar);
    list.append(li);
    return {
      progress(part) { bar.value = part; text.textContent = part < 1 ? Math.floor(part * 100) + " %" : "Saving"; },
      end(state, words) { li.dataset.state = state; text.textContent = words; bar.hidden = true; },
    };
  }

  function upload(file, shown) {
    return new Promise((done) => {
      const end = (ok, words) => { now = null; shown.end(ok ? "good" : "bad", words); done(ok); };
      if (stopped) { end(false, "Cancelled."); return; }
      if (file.size > most) { end(false, "This file is too large. Copy it with muster cluster cp."); return; }
      if (!form.elements.replace.checked && here.has(file.name)) { end(false, "It already exists. To overwrite it, choose Replace existing files."); return; }
      const data = new FormData();
      if (form.elements.replace.checked) data.append("replace", "1");
      data.append("file", file, file.name);
      const x = now = new XMLHttpRequest();
      x.open("POST", form.action);
      x.setRequestHeader("Muster-Part", "upload");
      x.upload.onprogress = (e) => { if (e.lengthComputable) shown.progress(e.loaded / e.total); };
      x.onload = () => {
        const ok = x.status >= 200 && x.status < 300;
        end(ok, ok ? "Uploaded" : x.responseText.trim().slice(0, 1000) || "The upload failed. Reload the page, then try again.");
      };
      x.onerror = () => end(false, "The connection was lost. Check the connection, then try again.");
      x.onabort = () => end(false, "Cancelled.");
      x.send(data);
    });
  }

  form.addEventListener("submit", async (e) => {
    e.preventDefault();
    const files = [...input.files];
    list.replaceChildren();
    list.hidden = false;
    stopped = false;
    send.disabled = input.disabled = true;
    cancel.hidden = false;
    reload.hidden = true;
    const lines = files.map(line);
    let good = 0;
    for (let i = 0; i < files.length; i++) if (await upload(files[i], lines[i])) { good++; here.add(files[i].name); }
    send.disabled = input.disabled = false;
    cancel.hidden = true;
    if (good === files.length) location.assign(reload.href + "&uploaded=" + good);
    else reload.hidden = !good;
  });
  cancel.addEventListener("click", () => { stopped = true; if (now) now.abort(); });
  window.addEventListener("beforeunload", (e) => { if (now) e.preventDefault(); });
})();
