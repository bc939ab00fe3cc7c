"use strict";

const enter = document.getElementById("enter");
const confirmation = document.getElementById("confirm");
const code = document.getElementById("user-code");
const buttons = [...document.querySelectorAll("button")];

function explained(refusal) {
  if (refusal.status === 400 || refusal.status === 404) return "There is no such code, or it has expired.";
  if (refusal.status === 401) return "Your session has ended. Load the page again to sign in.";
  return explainedByDefault(refusal);
}

function decide(decision, { progress, then }) {
  return attempt(buttons, progress, {
    step: async () => {
      const answer = await send({ user_code: code.value, pow: await solution(), device_accepted: decision });
      await then(answer);
    },
    explained,
  });
}

async function show(answer) {
  const details = await answer.json();
  document.getElementById("client").textContent = details.client_name || details.client_id;
  document.getElementById("scopes").textContent = details.scopes || "nothing";
  document.getElementById("address").textContent = details.ip;
  document.getElementById("since").textContent = new Date(1000 * details.started_at).toLocaleString();
  enter.hidden = true;
  confirmation.hidden = false;
  for (const button of buttons) button.disabled = false;
  tell({});
  document.getElementById("confirm-heading").focus();
}

function end(text) {
  confirmation.hidden = true;
  tell({ progress: text });
}

enter.addEventListener("submit", (event) => {
  event.preventDefault();
  decide("pending", { progress: "Looking for the device …", then: show });
});

document.getElementById("accept").addEventListener("click", () => {
  decide("accept", { progress: "Connecting …", then: () => end("The device is connected. You may close this page.") });
});

document.getElementById("decline").addEventListener("click", () => {
  decide("decline", { progress: "Declining …", then: () => end("The device was declined. You may close this page.") });
});
