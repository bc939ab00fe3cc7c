// Uses and adds passkeys: Web Authentication Level 3 §5.1.4 and §5.1.3, with octets in base64url on the wire.
"use strict";

function octets(text) {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

function encoded(buffer) {
  const binary = String.fromCharCode(...new Uint8Array(buffer));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function requestOptions({ challenge, allowCredentials = [], ...rest }) {
  const allowed = allowCredentials.map(({ id, ...credential }) => ({ ...credential, id: octets(id) }));
  return { ...rest, challenge: octets(challenge), allowCredentials: allowed };
}

function written({ id, rawId, type, response }) {
  const { clientDataJSON, authenticatorData, signature, userHandle } = response;
  return {
    id,
    type,
    rawId: encoded(rawId),
    response: {
      clientDataJSON: encoded(clientDataJSON),
      authenticatorData: encoded(authenticatorData),
      signature: encoded(signature),
      ...(userHandle && { userHandle: encoded(userHandle) }),
    },
  };
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

// Runs a ceremony; `begun` has its purpose, and the addresses where it starts and finishes.
async function showPasskey({ start, finish, ...begun }) {
  const { code, rcr } = await (await send(begun, start)).json();
  const credential = await navigator.credentials.get({ publicKey: requestOptions(rcr.publicKey) });
  await follow(await send({ code, data: written(credential) }, finish));
}

// After the credentials of a user with a passkey.
function showSecondFactor({ code, user_id }) {
  const person = `${state.users}/${encodeURIComponent(user_id)}/webauthn/auth`;
  return showPasskey({ start: `${person}/start`, finish: `${person}/finish`, purpose: { Login: code } });
}

// Before the user has entered an email address.
function showAnyPasskey() {
  return showPasskey({
    start: `${state.users}/webauthn_start`,
    finish: `${state.users}/webauthn_finish`,
    purpose: "Discoverable",
    authorization_id: state.authorization_id,
  });
}

function explainedPasskey(refusal) {
  if (refusal.status === 0) return _("Your passkey was not used. Try again.");
  if (refusal.status === 401) return _("Your passkey was not accepted, or this took too long. Try again.");
  return explainedByDefault(refusal);
}
