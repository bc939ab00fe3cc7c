"use strict";

const form = document.getElementById("sign-in");
const email = document.getElementById("email");
const submit = form.querySelector("button[type=submit]");

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (submit.disabled) return;
  await attempt([submit], _("One moment …"), {
    step: async () => {
      const found = await (await send({ email: email.value, pow: await solution() })).json();
      window.location.assign(found.location);
    },
    explained: explainedByDefault,
  });
});

// A page that the browser kept is shown as it was left.
window.addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  submit.disabled = false;
  tell({});
});
