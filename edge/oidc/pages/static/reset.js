// Sets a password by a link, or adds a passkey.
"use strict";

const form = document.getElementById("reset");
const password = document.getElementById("password");
const submit = form.querySelector("button[type=submit]");
const passkey = document.getElementById("passkey");
const buttons = passkey ? [submit, passkey] : [submit];

async function ask(method, action, members) {
  const answer = await fetch(action, {
    method,
    headers: { "content-type": "application/json", "x-pwd-csrf-token": state.csrf_token },
    body: JSON.stringify(members),
  });
  if (answer.ok) return answer;
  throw await refusalOf(answer);
}

async function usedPasskey() {
  const { code, rcr } = await (await ask("POST", `${state.webauthn}/auth/start`, { purpose: "PasswordReset" })).json();
  const credential = await navigator.credentials.get({ publicKey: requestOptions(rcr.publicKey) });
  const shown = await ask("POST", `${state.webauthn}/auth/finish`, { code, data: written(credential) });
  return (await shown.json()).code;
}

async function setPassword() {
  const members = { magic_link_id: state.magic_link_id, password: password.value };
  if (state.needs_passkey) members.mfa_code = await usedPasskey();
  window.location.assign((await ask("PUT", state.action, members)).headers.get("location"));
}

async function addPasskey() {
  const named = { passkey_name: "Passkey", magic_link_id: state.magic_link_id };
  const { publicKey } = await (await ask("POST", `${state.webauthn}/register/start`, named)).json();
  const credential = await navigator.credentials.create({ publicKey: creationOptions(publicKey) });
  const kept = await ask("POST", `${state.webauthn}/register/finish`, { ...named, data: created(credential) });
  window.location.assign((await kept.json()).location);
}

function explained(refusal) {
  if (refusal.status === 400) {
    markWrong(password);
    return notAccepted(refusal);
  }
  if (refusal.status === 0) return _("The connection failed, or your passkey was not used. Try again.");
  if (refusal.status === 401) return _("Your passkey was not accepted, or this took too long. Try again.");
  if (refusal.status === 409) return _("Your organization manages this account. Use its sign-in.");
  if (refusal.status === 403 || refusal.status === 404) {
    return _("This link is no longer valid, or it was opened in another browser. Request a new link.");
  }
  return explainedByDefault(refusal);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (submit.disabled) return;
  await attempt(buttons, _("One moment …"), { step: setPassword, explained });
});

if (passkey) {
  passkey.hidden = !window.PublicKeyCredential;
  passkey.addEventListener("click", () => attempt(buttons, _("Waiting for your passkey …"), { step: addPasskey, explained }));
}
