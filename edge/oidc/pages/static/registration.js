"use strict";

// Names of fields in the service, with their labels in the page.
const NAMES = { email: _("Email address"), password: _("Password"), preferred_username: _("Username") };

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
  // The form's address contains the referring authorization request.
  await send(members, form.action);
  document.getElementById("sent-to").textContent = field("email");
  tell({});
  replaceBy(document.getElementById("registered"), document.getElementById("asks"));
}

// A message may begin with the name of a field: "preferred_username: the name is reserved".
function explainedField({ message, text }) {
  if (text) {
    markWrong(form.elements.namedItem("password"));
    return text;
  }
  const [, name = "", reason = message] = /^([a-z_]+): (.+)$/.exec(message) ?? [];
  const input = form.elements.namedItem(/password/i.test(reason) ? "password" : name);
  if (input) markWrong(input);
  const field = NAMES[name] ?? _("This was not accepted");
  return _("%(field)s: %(reason)s. Change it, then try again.", { field, reason });
}

function explained(refusal) {
  if (refusal.kind === "UseCompanySignIn") {
    document.getElementById("company-sign-in").href = refusal.body.location;
    company.hidden = false;
    return _("Your organization manages the sign-in for this email address.");
  }
  if (refusal.status === 400) return explainedField(refusal.body);
  return explainedByDefault(refusal);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (submit.disabled) return;
  company.hidden = true;
  await attempt([submit], _("Creating your account …"), { step: register, explained });
});

again.addEventListener("click", async () => {
  again.disabled = true;
  againStatus.textContent = _("One moment …");
  try {
    await sendAgain(field("email"), state.send_again);
    againStatus.textContent = SENT_AGAIN;
  } catch (failure) {
    againStatus.textContent = explainedSending(failure instanceof Refusal ? failure : new Refusal(0, ""));
  }
  again.disabled = false;
  again.focus();
});
