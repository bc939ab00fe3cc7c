"use strict";

const form = document.getElementById("request");
const email = document.getElementById("email");
const submit = form.querySelector("button[type=submit]");

function explained(refusal) {
  if (refusal.kind === "UseCompanySignIn") return "The organization of this address signs its people in: use its sign-in.";
  return explainedByDefault(refusal);
}

async function request() {
  const { client_id, redirect_uri } = state;
  await send({ email: email.value, pow: await solution(), client_id, redirect_uri });
  document.getElementById("asks").textContent = "If there is such an account, a link is on its way. Look into your mailbox.";
  form.hidden = true;
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (submit.disabled) return;
  await attempt([submit], "One moment …", { step: request, explained });
});

// A page that the browser kept is shown as it was left.
window.addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  submit.disabled = false;
  tell({});
});
