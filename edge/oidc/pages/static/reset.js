// Chooses a password by a link, or makes a passkey: Web Authentication Level 3 §5.1.3, with octets in base64url.
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
  const { error, message } = await answer.json();
  throw new Refusal(answer.status, answer.status === 400 ? message : error);
}

async function shownPasskey() {
  const { code, rcr } = await (await ask("POST", `${state.webauthn}/auth/start`, { purpose: "PasswordReset" })).json();
  const credential = await navigator.credentials.get({ publicKey: requestOptions(rcr.publicKey) });
  const shown = await ask("POST", `${state.webauthn}/auth/finish`, { code, data: written(credential) });
  return (await shown.json()).code;
}

async function setPassword() {
  const members = { magic_link_id: state.magic_link_id, password: password.value };
  if (state.needs_passkey) members.mfa_code = await shownPasskey();
  window.location.assign((await ask("PUT", state.action, members)).headers.get("location"));
}

function creationOptions({ challenge, user, excludeCredentials = [], ...rest }) {
  const excluded = excludeCredentials.map(({ id, ...credential }) => ({ ...credential, id: octets(id) }));
  return { ...rest, challenge: octets(challenge), user: { ...user, id: octets(user.id) }, excludeCredentials: excluded };
}

function created({ id, rawId, type, response }) {
  return {
    id,
    type,
    rawId: encoded(rawId),
    response: {
      clientDataJSON: encoded(response.clientDataJSON),
      attestationObject: encoded(response.attestationObject),
      transports: response.getTransports(),
    },
  };
}

async function makePasskey() {
  const named = { passkey_name: "Passkey", magic_link_id: state.magic_link_id };
  const { publicKey } = await (await ask("POST", `${state.webauthn}/register/start`, named)).json();
  const credential = await navigator.credentials.create({ publicKey: creationOptions(publicKey) });
  const kept = await ask("POST", `${state.webauthn}/register/finish`, { ...named, data: created(credential) });
  window.location.assign((await kept.json()).location);
}

function explained(refusal) {
  if (refusal.status === 400) return `That was not taken: ${refusal.kind}.`;
  if (refusal.status === 0) return "The connection failed, or no passkey was shown. Try again.";
  if (refusal.status === 401) return "The passkey was not accepted, or that took too long. Try again.";
  if (refusal.status === 409) return "The organization of this address signs its people in: use its sign-in.";
  return "That did not work. Ask for another link and try again.";
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (submit.disabled) return;
  await attempt(buttons, "One moment …", { step: setPassword, explained });
});

if (passkey) {
  passkey.hidden = !window.PublicKeyCredential;
  passkey.addEventListener("click", () => attempt(buttons, "Waiting for your passkey …", { step: makePasskey, explained }));
}
