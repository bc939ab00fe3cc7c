// The account page: its forms and buttons call the endpoints of the user.
"use strict";

const person = `${state.users}/${encodeURIComponent(state.user_id)}`;
const CANCELLED = "Cancelled";
const NOTICE = "account-notice";

async function ask(method, path, members) {
  const isForm = members instanceof FormData;
  const json = members && !isForm;
  const answer = await fetch(`${person}${path}`, {
    method,
    headers: { "x-csrf-token": state.csrf_token, ...(json && { "content-type": "application/json" }) },
    body: json ? JSON.stringify(members) : members,
  });
  if (!answer.ok) throw await refusalOf(answer);
  // A new password renews the session.
  state.csrf_token = answer.headers.get("x-csrf-token") ?? state.csrf_token;
  return answer;
}

function explained(refusal) {
  if (refusal.kind === CANCELLED) return "";
  if (refusal.body.reason?.startsWith("PASSWORD_")) markWrong(document.getElementById("new-password"));
  if (refusal.status === 400 || refusal.status === 409) return notAccepted(refusal);
  if (refusal.status === 0) return _("The connection failed, or your passkey was not used. Try again.");
  return explainedByDefault(refusal);
}

// Runs a step with its button, and tells the result; `step` returns the text.
function run(button, step) {
  return attempt([button], _("One moment …"), {
    step: async () => {
      const progress = await step();
      button.disabled = false;
      if (progress !== undefined) tell({ progress });
    },
    explained,
  });
}

function onSubmit(id, step) {
  const form = document.getElementById(id);
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    const button = form.querySelector("button[type=submit]");
    if (!button.disabled) run(button, () => step(form));
  });
}

// The page is loaded again, and then tells what was done.
function reloaded(text) {
  sessionStorage.setItem(NOTICE, text);
  window.location.reload();
}

// Confirms the identity of the user, and returns a token for one change.
const proof = document.getElementById("proof");
const proofError = document.getElementById("proof-error");
const proofAnswer = document.getElementById("proof-answer");

function proven(reason) {
  document.getElementById("proof-reason").textContent = reason;
  proofError.textContent = "";
  if (proofAnswer) proofAnswer.value = "";
  proof.showModal();
  return new Promise((resolve, reject) => {
    const give = async (members) => {
      proofError.textContent = "";
      try {
        const { id } = await (await ask("POST", "/mfa_token", await members())).json();
        proof.close();
        resolve(id);
      } catch (failure) {
        const refusal = failure instanceof Refusal ? failure : new Refusal(0, "");
        proofError.textContent = explainedProof(refusal);
        proofAnswer?.select();
      }
    };
    document.getElementById("proof-form").onsubmit = (event) => {
      event.preventDefault();
      give(async () => ({ [proofAnswer.name]: proofAnswer.value.trim() }));
    };
    const passkey = document.getElementById("proof-passkey");
    if (passkey) passkey.onclick = () => give(async () => ({ mfa_code: await shownPasskey() }));
    document.getElementById("proof-cancel").onclick = () => proof.close();
    // After a proof the promise is settled already.
    proof.onclose = () => reject(new Refusal(0, CANCELLED));
  });
}

function explainedProof(refusal) {
  if (refusal.status === 400) return _("The password is wrong.");
  if (refusal.status === 401) return _("This was not accepted. Try again.");
  return explained(refusal);
}

async function shownPasskey() {
  const start = await ask("POST", "/webauthn/auth/start", { purpose: "MfaModToken" });
  const { code, rcr } = await start.json();
  const credential = await navigator.credentials.get({ publicKey: requestOptions(rcr.publicKey) });
  const finished = await ask("POST", "/webauthn/auth/finish", { code, data: written(credential) });
  return (await finished.json()).code;
}

// A list of choices has no default value of its own.
const language = document.getElementById("language");
language.defaultValue = language.value;

onSubmit("profile", async (form) => {
  const changed = [...form.elements].filter(({ name, value, defaultValue }) => name && value !== defaultValue);
  const values = (prefix) =>
    Object.fromEntries(
      changed
        .filter(({ name }) => name.startsWith(prefix) && !name.slice(prefix.length).includes("."))
        .map(({ name, value }) => [name.slice(prefix.length), value.trim()]),
    );
  await ask("PUT", "/self", { ...values(""), user_values: values("user_values.") });
  for (const field of changed) field.defaultValue = field.value;
  return _("Profile saved.");
});

onSubmit("username", async (form) => {
  const username = form.elements.preferred_username.value.trim();
  await ask("PUT", "/self/preferred_username", { preferred_username: username || null });
  return _("Username saved.");
});

onSubmit("address", async (form) => {
  const email = form.elements.email.value.trim();
  if (email === state.email) return _("This is your address already.");
  const token = await proven(_("You are about to change your email address."));
  await ask("PUT", "/self", { email, mfa_mod_token_id: token });
  return _("A link was sent to %(email)s. Open it to change the address.", { email });
});

onSubmit("picture", async (form) => {
  const sent = new FormData();
  sent.append("image", form.elements.image.files[0]);
  await ask("PUT", "/picture", sent);
  reloaded(_("Picture saved."));
});

onSubmit("password-form", async (form) => {
  const field = document.getElementById("new-password");
  const token = await proven(_("You are about to change your password."));
  await ask("PUT", "/self", { password_new: field.value, mfa_mod_token_id: token });
  form.reset();
  return _("Password changed. All your other sessions have ended.");
});

onSubmit("add-passkey", async () => {
  const passkey_name = document.getElementById("passkey-name").value.trim();
  const token = await proven(_("You are about to add a passkey."));
  const started = await ask("POST", "/webauthn/register/start", { passkey_name, mfa_mod_token_id: token });
  const { publicKey } = await started.json();
  const credential = await navigator.credentials.create({ publicKey: creationOptions(publicKey) });
  await ask("POST", "/webauthn/register/finish", { passkey_name, data: created(credential) });
  reloaded(_("Passkey added."));
});

onSubmit("add-generator", async (form) => {
  const name = document.getElementById("generator-name").value.trim();
  const token = await proven(_("You are about to add an authenticator app."));
  const begun = await (await ask("POST", "/one_time_codes", { name, mfa_mod_token_id: token })).json();
  const confirmation = document.getElementById("confirm-generator");
  document.getElementById("qr-code").src = begun.qr_code;
  document.getElementById("generator-secret").textContent = begun.secret;
  confirmation.dataset.generator = begun.id;
  form.hidden = true;
  confirmation.hidden = false;
  confirmation.querySelector("h3").focus();
  return "";
});

onSubmit("confirm-generator", async (form) => {
  const one_time_code = document.getElementById("first-code").value.trim();
  await ask("POST", `/one_time_codes/${form.dataset.generator}/confirm`, { one_time_code });
  reloaded(_("Authenticator app added."));
});

document.getElementById("turn-on-email-codes")?.addEventListener("click", ({ target }) =>
  run(target, async () => {
    const token = await proven(_("You are about to turn on codes by email."));
    await ask("POST", "/email_codes", { mfa_mod_token_id: token });
    reloaded(_("Codes by email turned on."));
  }),
);

onSubmit("allow-support", async (form) => {
  await ask("PUT", "/support_access", { hours: Number(form.elements.hours.value) });
  reloaded(_("Support may sign in as you now."));
});

document.getElementById("make-recovery-codes")?.addEventListener("click", ({ target }) =>
  run(target, async () => {
    const token = await proven(_("You are about to make new recovery codes. Earlier ones stop working."));
    const { recovery_codes } = await (await ask("POST", "/recovery_codes", { mfa_mod_token_id: token })).json();
    const shown = document.getElementById("recovery-codes");
    shown.querySelector("pre").textContent = recovery_codes.join("\n");
    shown.hidden = false;
    shown.querySelector("h3").focus();
    return "";
  }),
);

document.getElementById("delete-account")?.addEventListener("click", ({ target }) =>
  run(target, async () => {
    const token = await proven(_("You are about to delete your account. Nobody can undo this."));
    await ask("DELETE", "/self/delete", { mfa_mod_token_id: token });
    window.location.assign(state.entry);
  }),
);

for (const button of document.querySelectorAll("[data-removes]")) {
  button.addEventListener("click", () =>
    run(button, async () => {
      const { removes, proves, done, reloads, leaves } = button.dataset;
      const token = proves === undefined ? undefined : { mfa_mod_token_id: await proven(_("You are about to remove it.")) };
      await ask("DELETE", removes, token);
      if (leaves !== undefined) return window.location.assign(state.entry);
      if (reloads !== undefined) return reloaded(done);
      button.closest("li").remove();
      return done;
    }),
  );
}

for (const button of document.querySelectorAll("[data-links]")) {
  button.addEventListener("click", () =>
    run(button, async () => {
      const { links, name } = button.dataset;
      const mfa_mod_token_id = await proven(_("You are about to link your account to %(provider)s.", { provider: name }));
      return follow(await ask("POST", "/provider_links", { provider_id: links, mfa_mod_token_id }));
    }),
  );
}

const notice = sessionStorage.getItem(NOTICE);
sessionStorage.removeItem(NOTICE);
if (notice) tell({ progress: notice });
