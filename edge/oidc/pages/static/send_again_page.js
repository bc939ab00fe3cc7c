"use strict";

const form = document.getElementById("send-again");
const email = document.getElementById("email");
const submit = form.querySelector("button[type=submit]");

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (submit.disabled) return;
  await attempt([submit], _("One moment …"), {
    step: async () => {
      await sendAgain(email.value, state.action);
      tell({ progress: SENT_AGAIN });
      submit.disabled = false;
    },
    explained: explainedSending,
  });
});
