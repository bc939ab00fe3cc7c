"use strict";

const form = document.getElementById("go-on");
const submit = form.querySelector("button[type=submit]");

async function goOn() {
  if (submit.disabled) return;
  await attempt([submit], _("Continuing …"), {
    step: async () => follow(await send({ authorization_id: state.authorization_id })),
    explained: (refusal) => (refusal.status === 401 ? reloadable(NO_SESSION) : explainedByDefault(refusal)),
  });
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  goOn();
});

goOn();
