"use strict";

const show = document.getElementById("show");

// The code of the ceremony works once: after a failure the person signs in again.
show.addEventListener("click", () =>
  attempt([show], _("Waiting for your passkey …"), {
    step: () => showSecondFactor(state.second_factor),
    explained: explainedPasskey,
  }),
);
