// Security keys: a button asks the browser for one, and its answer goes with the form. Codes work without a script.
(function () {
  "use strict";
  const bytes = (s) => Uint8Array.from(atob(s.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  const text = (b) => btoa(String.fromCharCode(...new Uint8Array(b))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  const trouble = document.getElementById("key-trouble");
  const button = document.querySelector("[data-key-get], [data-key-create]");
  if (!button) return;
  const say = (s) => { trouble.textContent = s; };
  if (!window.PublicKeyCredential) {
    say("This browser can't use security keys.");
    button.disabled = true;
    return;
  }
  button.hidden = false;

  // Options come as JSON, in which all bytes are base64url.
  function options(json) {
    const o = JSON.parse(json).publicKey;
    o.challenge = bytes(o.challenge);
    if (o.user) o.user.id = bytes(o.user.id);
    for (const list of [o.allowCredentials, o.excludeCredentials]) for (const c of list || []) c.id = bytes(c.id);
    return { publicKey: o };
  }
  function answer(c) {
    const r = { clientDataJSON: text(c.response.clientDataJSON) };
    for (const part of ["attestationObject", "authenticatorData", "signature", "userHandle"]) if (c.response[part]) r[part] = text(c.response[part]);
    if (c.response.getTransports) r.transports = c.response.getTransports();
    return JSON.stringify({ id: c.id, rawId: text(c.rawId), type: c.type, response: r, clientExtensionResults: {} });
  }

  button.addEventListener("click", async () => {
    const form = button.form;
    const code = document.getElementById("code");
    if (code) code.required = false;
    if (!form.reportValidity()) return;
    say("Touch your security key, or follow your browser.");
    button.disabled = true;
    try {
      const add = button.dataset.keyCreate;
      const c = add ? await navigator.credentials.create(options(add)) : await navigator.credentials.get(options(button.dataset.keyGet));
      document.getElementById("key-answer").value = answer(c);
      form.submit();
    } catch (e) {
      button.disabled = false;
      say(e.name === "InvalidStateError" ? "This security key was added already." : "The security key didn't answer. Try again.");
    }
  });
})();
