"use strict";

const EXPLANATIONS = {
  Unauthorized: "The e-mail address or the password is wrong.",
  EmailNotConfirmed: "Confirm your e-mail address first: open the link in the message that was sent to you.",
  PasswordRefresh: "Your password has expired.",
  MfaRequired: "This application asks for more than a password.",
};

const form = document.getElementById("sign-in");
const email = document.getElementById("email");
const password = document.getElementById("password");
const submit = form.querySelector("button[type=submit]");

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (submit.disabled) return;
  await attempt([submit], "Signing in …", {
    step: async () => {
      const members = {
        authorization_id: state.authorization_id,
        email: email.value,
        password: password.value,
        pow: await solution(),
      };
      await follow(await send(members));
    },
    explained: (refusal) => {
      password.select();
      return EXPLANATIONS[refusal.kind] ?? explainedByDefault(refusal);
    },
  });
});

document.getElementById("another-address")?.addEventListener("click", (event) => {
  event.target.hidden = true;
  email.value = "";
  password.value = "";
  email.focus();
});

// A page that the browser kept is shown as it was left.
window.addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  submit.disabled = false;
  tell({});
});
