"use strict";

const show = document.getElementById("show");

// A code is good once: whoever wants to try again signs in again.
show.addEventListener("click", () =>
  attempt([show], "Waiting for your passkey …", {
    step: () => showSecondFactor(state.second_factor),
    explained: explainedPasskey,
  }),
);
