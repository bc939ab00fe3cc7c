"use strict";

const form = document.getElementById("request");
const email = document.getElementById("email");
const submit = form.querySelector("button[type=submit]");

function explained(refusal) {
  if (refusal.kind === "UseCompanySignIn") return _("Your organization manages this account. Use its sign-in.");
  if (refusal.status === 400) {
    markWrong(email);
    return _("This is not an email address.");
  }
  return explainedByDefault(refusal);
}

async function request() {
  const { client_id, redirect_uri } = state;
  await send({ email: email.value, pow: await solution(), client_id, redirect_uri });
  tell({});
  replaceBy(document.getElementById("sent"), document.getElementById("asks"));
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (submit.disabled) return;
  await attempt([submit], _("One moment …"), { step: request, explained });
});

// A page that the browser kept is shown as it was left.
window.addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  submit.disabled = false;
  tell({});
});
