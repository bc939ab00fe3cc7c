"use strict";

const EXPLANATIONS = {
  Unauthorized: _("The email address or the password is wrong."),
  EmailNotConfirmed: _("Confirm your email address first. Open the link in the message that we sent you."),
  PasswordRefresh: document.getElementById("forgotten")
    ? _("Your password has expired. We have sent you a link to choose a new one.")
    : _("Your password has expired. Ask your administrator for a new one."),
  WrongRecoveryCode: _("The recovery code is wrong or was used before. Check it, then try again."),
  WrongEmailCode: _("The code is wrong or has expired. Check it, or have another one sent."),
  WrongCode: _("The code is wrong, has expired, or was used before. Wait for the next code, then try again."),
  MfaRequired: _("This application requires a second factor, and your account has none. Ask your administrator to add one."),
  NoAccount: _("Your password is right, but you have no account here. Ask your administrator."),
  DirectoryUnavailable: _("The directory of your organization does not answer. Try again later."),
  UseCompanySignIn: _("Your organization manages the sign-in for this email address."),
};

const CODE_SENT = _("A code is on its way to your email address.");

// Stands for a passkey that was not used, or not accepted.
const PASSKEY = "Passkey";

const form = document.getElementById("sign-in");
const email = document.getElementById("email");
const submit = form.querySelector("button[type=submit]");
const providers = [...document.querySelectorAll("button[data-provider]")];
const passkey = document.getElementById("passkey");
const sendLinkAgain = document.getElementById("send-again");
const anotherAddress = document.getElementById("another-address");

// The forms for a code, of which a person may have one kind or both.
const codeStep = document.getElementById("code-step");

// The password field of a page that asks for the address first.
const passwordStep = document.getElementById("password-step");

// Leads from a choice of providers to the password.
const usePassword = document.getElementById("use-password");

function password() {
  return document.getElementById("password");
}

async function signInWith(credentials) {
  const members = { authorization_id: state.authorization_id, email: email.value, pow: await solution() };
  const answer = await sendPatiently({ ...members, ...credentials });
  await (answer.status === 200 ? goOnWithFactor(await answer.json()) : follow(answer));
}

// A code is offered beside the passkey, or asked for where no passkey can be used.
async function goOnWithFactor(factor) {
  const hasPasskey = factor.methods.includes("passkey");
  const takesCodes = factor.methods.some((method) => method !== "passkey");
  const isByCode = takesCodes && !(hasPasskey && window.PublicKeyCredential);
  if (takesCodes) askForCode(factor, isByCode);
  if (!isByCode) await showSecondFactor(factor).catch(refusedPasskey);
}

// A refused passkey says nothing about the password.
function refusedPasskey(failure) {
  if (failure instanceof Refusal && failure.kind !== "Unauthorized") throw failure;
  throw new Refusal(failure.status ?? 0, PASSKEY);
}

// The person stays on the page after a wrong code.
function askForCode({ code, methods }, isAlone) {
  document.getElementById("code-section")?.remove();
  codeStep.before(codeStep.content.cloneNode(true));
  const section = document.getElementById("code-section");
  keepForms(section, methods);
  const sending = document.getElementById("email-code-send");
  sending?.addEventListener("submit", (event) => {
    event.preventDefault();
    sendCode(sending, code);
  });
  for (const step of section.querySelectorAll("form:not(#email-code-send)")) {
    step.addEventListener("submit", (event) => {
      event.preventDefault();
      goOnWithCode(step, code);
    });
  }
  document.getElementById("other-ways").hidden = true;
  if (!isAlone) return;
  document.getElementById("credentials").hidden = true;
  nameStep(section, _("Enter your code"));
  putMessages(section.querySelector("form"));
  section.querySelector("input").focus();
}

// Drops the forms for codes that the person has none of.
function keepForms(section, methods) {
  const recovery = section.querySelector("details");
  if (!methods.includes("email_code")) section.querySelector("#by-email").remove();
  if (!methods.includes("recovery_code")) recovery.remove();
  if (methods.includes("one_time_code")) return;
  section.querySelector("#code-form").remove();
  if (methods.includes("email_code")) {
    // Without an app the code is on its way already, and stands before the recovery code.
    section.querySelector("#email-code-status").textContent = methods.includes("passkey") ? "" : CODE_SENT;
    if (methods.includes("recovery_code")) section.querySelector("#by-email").after(recovery);
    return;
  }
  recovery.replaceWith(recovery.querySelector("form"));
}

async function sendCode(sending, code) {
  const button = sending.querySelector("button");
  await attempt([button], _("One moment …"), {
    step: async () => {
      await send({ code }, state.email_code_action);
      button.disabled = false;
      tell({});
      document.getElementById("email-code-status").textContent = CODE_SENT;
      document.getElementById("email-code").focus();
    },
    explained: explainedOfCode,
  });
}

// The page has one heading for its step, unless that is the client's own.
function nameStep(section, words) {
  const own = section.querySelector("h2");
  const heading = document.getElementById("step-heading");
  (heading ?? own).textContent = words;
  if (heading) {
    own.remove();
    section.setAttribute("aria-labelledby", heading.id);
  }
  document.title = words;
}

// Messages stand where the person looks: in the form that was sent.
function putMessages(step) {
  tell({});
  const messages = ["error", "reload", "progress"].map((id) => document.getElementById(id));
  step.querySelector("button[type=submit]").before(...messages);
}

async function goOnWithCode(step, code) {
  const typed = step.elements.one_time_code;
  putMessages(step);
  await attempt([step.querySelector("button[type=submit]")], _("Checking your code …"), {
    step: async () => follow(await sendPatiently({ code, one_time_code: typed.value }, state.code_action)),
    explained: (refusal) => {
      markWrong(typed);
      const own = { "recovery-code": "WrongRecoveryCode", "email-code": "WrongEmailCode" }[typed.id];
      return own && refusal.kind === "WrongCode" ? EXPLANATIONS[own] : explainedOfCode(refusal);
    },
  });
}

function signIn() {
  return signInWith({ password: password().value });
}

// With an address the passkey is one of that account, without an address it is any.
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

// Shows the providers that sign in addresses of a domain, or all where the domain names none.
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
  email.readOnly = true;
  anotherAddress.hidden = false;
  tell({});
  if (found.step === "choice") {
    offerPassword();
  } else {
    askForPassword();
  }
}

// The password is one of several ways: its field appears on demand.
function offerPassword() {
  submit.hidden = true;
  usePassword.hidden = false;
  (providers.find((button) => !button.hidden) ?? usePassword).focus();
}

function askForPassword() {
  usePassword.hidden = true;
  passwordStep.replaceWith(passwordStep.content);
  submit.hidden = false;
  submit.textContent = _("Sign in");
  submit.disabled = false;
  password().focus();
}

function explainedOfCode(refusal) {
  return refusal.kind === "Unauthorized"
    ? reloadable(_("This took too long. Reload the page and sign in again."))
    : (EXPLANATIONS[refusal.kind] ?? explainedByDefault(refusal));
}

function explainedOfAddress(refusal) {
  return refusal.status === 401
    ? reloadable(NO_SESSION)
    : (EXPLANATIONS[refusal.kind] ?? explainedByDefault(refusal));
}

function explainedOfPassword(refusal) {
  if (refusal.kind === PASSKEY) return explainedPasskey(refusal);
  if (refusal.kind === "Unauthorized") markWrong(email, password());
  sendLinkAgain.hidden = refusal.kind !== "EmailNotConfirmed";
  return EXPLANATIONS[refusal.kind] ?? explainedByDefault(refusal);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (submit.disabled || submit.hidden) return;
  if (password()) {
    await attempt([submit, passkey, ...providers], _("Signing in …"), { step: signIn, explained: explainedOfPassword });
  } else {
    await attempt([submit], _("One moment …"), { step: goOnWithAddress, explained: explainedOfAddress });
  }
});

for (const button of providers) {
  button.addEventListener("click", () =>
    attempt([submit, passkey, ...providers], _("Continuing …"), {
      step: () => leaveFor(button.dataset.provider),
      explained: explainedByDefault,
    }),
  );
}

usePassword?.addEventListener("click", askForPassword);

sendLinkAgain.addEventListener("click", () =>
  attempt([submit, sendLinkAgain], _("One moment …"), {
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
  attempt([submit, passkey, ...providers], _("Waiting for your passkey …"), { step: signInWithPasskey, explained: explainedPasskey }),
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
