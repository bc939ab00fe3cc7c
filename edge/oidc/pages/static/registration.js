"use strict";

const form = document.getElementById("register");
const submit = form.querySelector("button[type=submit]");
const again = document.getElementById("again");
const againStatus = document.getElementById("again-status");
const company = document.getElementById("company");

function field(name) {
  return form.elements.namedItem(name)?.value ?? "";
}

async function register() {
  const members = {
    email: field("email"),
    password: field("password"),
    given_name: field("given_name"),
    family_name: field("family_name"),
    preferred_username: field("preferred_username"),
    pow: await solution(),
  };
  // The form's address says where the person came from.
  await send(members, form.action);
  document.getElementById("sent-to").textContent = field("email");
  document.getElementById("heading").hidden = true;
  form.hidden = true;
  document.getElementById("registered").hidden = false;
  document.getElementById("registered-heading").focus();
}

function explained(refusal) {
  if (refusal.kind === "UseCompanySignIn") {
    document.getElementById("company-sign-in").href = refusal.body.location;
    company.hidden = false;
    return "The organization of this address signs its people in.";
  }
  if (refusal.status === 400) return `That did not work: ${refusal.body.message}.`;
  return explainedByDefault(refusal);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (submit.disabled) return;
  company.hidden = true;
  await attempt([submit], "Creating the account …", { step: register, explained });
});

again.addEventListener("click", async () => {
  again.disabled = true;
  againStatus.textContent = "One moment …";
  try {
    await sendAgain(field("email"), state.send_again);
    againStatus.textContent = SENT_AGAIN;
  } catch (failure) {
    againStatus.textContent = explainedSending(failure instanceof Refusal ? failure : new Refusal(0, ""));
  }
  again.disabled = false;
});
