"use strict";

const enter = document.getElementById("enter");
const confirmation = document.getElementById("confirm");
const code = document.getElementById("user-code");
const buttons = [...document.querySelectorAll("#enter button, #confirm button")];

function explained(refusal) {
  if (refusal.status === 400 || refusal.status === 404) {
    if (!enter.hidden) markWrong(code);
    return _("This code is wrong or has expired. Check the code on your device, then try again.");
  }
  if (refusal.status === 401) return reloadable(_("Your session has ended. Reload the page and sign in again."));
  return explainedByDefault(refusal);
}

function decide(decision, { progress, then }) {
  return attempt(buttons, progress, {
    step: async () => {
      const answer = await send({ user_code: code.value, pow: await solution(), device_accepted: decision });
      await then(answer);
      tell({});
    },
    explained,
  });
}

function listItem(text) {
  const item = document.createElement("li");
  item.textContent = text;
  return item;
}

function element(name, text, className = "") {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = className;
  return made;
}

// An authorization detail, as on the consent page.
function detailItem(detail) {
  const item = document.createElement("li");
  const fields = element("dl", "", "detail");
  for (const row of detail.rows) {
    fields.append(element("dt", row.label));
    for (const value of row.values) {
      fields.append(element("dd", row.is_boolean ? (value === "true" ? _("Yes") : _("No")) : value));
    }
  }
  item.append(element("strong", detail.title));
  if (detail.description) item.append(" ", element("span", detail.description, "fine"));
  if (detail.rows.length) item.append(fields);
  return item;
}

async function show(answer) {
  const details = await answer.json();
  const scopes = (details.scopes ?? "").split(" ").filter(Boolean);
  const wishes = [
    ...scopes.map((scope) => listItem(state.scopes[scope] ?? _("Use “%(scope)s”", { scope }))),
    ...(details.authorization_details ?? []).map(detailItem),
  ];
  const startedAt = new Date(1000 * details.started_at);
  document.getElementById("client").textContent = details.client_name || details.client_id;
  document.getElementById("scopes").replaceChildren(
    ...(wishes.length ? wishes : [listItem(_("Nothing"))]),
  );
  document.getElementById("address").textContent = details.ip;
  document.getElementById("since").textContent = startedAt.toLocaleString(document.documentElement.lang, {
    dateStyle: "long",
    timeStyle: "short",
  });
  for (const button of buttons) button.disabled = false;
  replaceBy(confirmation, enter);
}

function end(id) {
  replaceBy(document.getElementById(id), confirmation);
}

document.getElementById("enter-form").addEventListener("submit", (event) => {
  event.preventDefault();
  decide("pending", { progress: _("Looking for your device …"), then: show });
});

document.getElementById("accept").addEventListener("click", () => {
  decide("accept", { progress: _("Connecting your device …"), then: () => end("accepted") });
});

document.getElementById("decline").addEventListener("click", () => {
  decide("decline", { progress: _("Declining …"), then: () => end("declined") });
});
