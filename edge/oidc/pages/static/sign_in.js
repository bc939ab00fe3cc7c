"use strict";

const EXPLANATIONS = {
  Unauthorized: "The e-mail address or the password is wrong.",
  EmailNotConfirmed: "Confirm your e-mail address first: open the link in the message that was sent to you.",
  PasswordRefresh: document.getElementById("forgotten")
    ? "Your password has expired: a link by which you choose another one is on its way to you."
    : "Your password has expired.",
  WrongCode: "The code is wrong, was used before or has expired. Wait for the next one, then try again.",
  MfaRequired: "This application asks for more than a password.",
  UseCompanySignIn: "The organization of this address signs its people in.",
};

// Stands for a passkey that was not shown, or not accepted.
const PASSKEY = "Passkey";

const form = document.getElementById("sign-in");
const email = document.getElementById("email");
const submit = form.querySelector("button[type=submit]");
const providers = [...document.querySelectorAll("button[data-provider]")];
const passkey = document.getElementById("passkey");
const sendLinkAgain = document.getElementById("send-again");
const anotherAddress = document.getElementById("another-address");

// What whoever has codes is asked for next.
const codeStep = document.getElementById("code-step");

// Where the page asks for the address alone, what it asks for then.
const passwordStep = document.getElementById("password-step");

function password() {
  return document.getElementById("password");
}

async function signInWith(credentials) {
  const members = { authorization_id: state.authorization_id, email: email.value, pow: await solution() };
  const answer = await send({ ...members, ...credentials });
  await (answer.status === 200 ? goOnWithFactor(await answer.json()) : follow(answer));
}

// A code is offered beside the passkey, or asked for where there is none that could be shown.
async function goOnWithFactor(factor) {
  const hasPasskey = factor.methods.includes("passkey");
  const takesCodes = factor.methods.some((method) => method !== "passkey");
  const isByCode = takesCodes && !(hasPasskey && window.PublicKeyCredential);
  if (takesCodes) askForCode(factor.code, isByCode);
  if (!isByCode) await showSecondFactor(factor).catch(refusedPasskey);
}

// What is wrong with the passkey is nothing that the password is told of.
function refusedPasskey(failure) {
  if (failure instanceof Refusal && failure.kind !== "Unauthorized") throw failure;
  throw new Refusal(failure.status ?? 0, PASSKEY);
}

// Whoever mistypes stays on the page.
function askForCode(code, isAlone) {
  document.getElementById("code-form")?.remove();
  const step = document.createElement("form");
  step.id = "code-form";
  const goOn = document.createElement("button");
  goOn.textContent = "Go on";
  step.append(codeStep.content.cloneNode(true), goOn);
  step.addEventListener("submit", (event) => {
    event.preventDefault();
    goOnWithCode(step, code);
  });
  codeStep.before(step);
  form.hidden = isAlone;
  for (const button of providers) button.hidden ||= isAlone;
  if (!isAlone) return;
  // What is told has to be seen, and the form that told it is hidden.
  goOn.before(document.getElementById("error"), document.getElementById("progress"));
  step.elements.one_time_code.focus();
}

async function goOnWithCode(step, code) {
  const typed = step.elements.one_time_code;
  await attempt([step.querySelector("button")], "Signing in …", {
    step: async () => follow(await send({ code, one_time_code: typed.value }, state.code_action)),
    explained: (refusal) => {
      typed.select();
      return explainedOfCode(refusal);
    },
  });
}

function signIn() {
  return signInWith({ password: password().value });
}

// Whoever has typed an address is asked for a passkey of that account, everybody else for any.
function signInWithPasskey() {
  return email.value ? signInWith({}) : showAnyPasskey();
}

async function leaveFor(provider) {
  const members = {
    authorization_id: state.authorization_id,
    provider_id: provider,
    email: email.value,
    pow: await solution(),
  };
  await follow(await send(members, state.provider_login));
}

// An address at a domain with a choice is offered those alone, every other one all of them.
function offerOnly(chosen) {
  const ids = chosen.map((provider) => provider.id);
  for (const button of providers) button.hidden = ids.length > 0 && !ids.includes(button.dataset.provider);
}

async function goOnWithAddress() {
  const members = { authorization_id: state.authorization_id, email: email.value, pow: await solution() };
  const found = await (await send(members, state.email_action)).json();
  if (found.step === "provider") {
    await leaveFor(found.providers[0].id);
    return;
  }
  offerOnly(found.providers);
  passwordStep.replaceWith(passwordStep.content);
  email.readOnly = true;
  anotherAddress.hidden = false;
  submit.textContent = "Sign in";
  submit.disabled = false;
  tell({});
  password().focus();
}

function explainedOfCode(refusal) {
  return refusal.kind === "Unauthorized"
    ? "That took too long. Load the page again, then sign in once more."
    : (EXPLANATIONS[refusal.kind] ?? explainedByDefault(refusal));
}

function explainedOfAddress(refusal) {
  return refusal.status === 401
    ? "Your session has ended. Go back to the application that you came from and sign in again."
    : (EXPLANATIONS[refusal.kind] ?? explainedByDefault(refusal));
}

function explainedOfPassword(refusal) {
  if (refusal.kind === PASSKEY) return explainedPasskey(refusal);
  password().select();
  sendLinkAgain.hidden = refusal.kind !== "EmailNotConfirmed";
  return EXPLANATIONS[refusal.kind] ?? explainedByDefault(refusal);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (submit.disabled) return;
  if (password()) {
    await attempt([submit, passkey, ...providers], "Signing in …", { step: signIn, explained: explainedOfPassword });
  } else {
    await attempt([submit], "One moment …", { step: goOnWithAddress, explained: explainedOfAddress });
  }
});

for (const button of providers) {
  button.addEventListener("click", () =>
    attempt([submit, passkey, ...providers], "Going on …", {
      step: () => leaveFor(button.dataset.provider),
      explained: explainedByDefault,
    }),
  );
}

sendLinkAgain.addEventListener("click", () =>
  attempt([submit, sendLinkAgain], "One moment …", {
    step: async () => {
      await sendAgain(email.value, state.send_again);
      tell({ progress: SENT_AGAIN });
      submit.disabled = false;
    },
    explained: explainedSending,
  }),
);

passkey.hidden = !window.PublicKeyCredential;
passkey.addEventListener("click", () =>
  attempt([submit, passkey, ...providers], "Waiting for your passkey …", { step: signInWithPasskey, explained: explainedPasskey }),
);

anotherAddress?.addEventListener("click", () => {
  if (email.readOnly) {
    window.location.reload();
    return;
  }
  anotherAddress.hidden = true;
  email.value = "";
  if (password()) password().value = "";
  email.focus();
});

// A page that the browser kept is shown as it was left.
window.addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  for (const button of [submit, ...providers]) button.disabled = false;
  tell({});
});
