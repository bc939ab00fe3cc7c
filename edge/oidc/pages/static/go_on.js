"use strict";

const form = document.getElementById("go-on");
const submit = form.querySelector("button[type=submit]");

async function goOn() {
  if (submit.disabled) return;
  await attempt([submit], "Going on …", {
    step: async () => follow(await send({ authorization_id: state.authorization_id })),
    explained: (refusal) =>
      refusal.status === 401
        ? "Your session has ended. Go back to the application that you came from and sign in again."
        : explainedByDefault(refusal),
  });
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  goOn();
});

goOn();
