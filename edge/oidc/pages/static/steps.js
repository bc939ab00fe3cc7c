// Shared by the pages with a script: their state, the proof of work, requests, and messages to the person.
"use strict";

// Translations of texts by their English, where the page has another language.
const texts = JSON.parse(document.getElementById("texts")?.textContent ?? "{}");

function _(text, values = {}) {
  return (texts[text] ?? text).replace(/%\((\w+)\)s/g, (_placeholder, name) => values[name]);
}

const SOLVING_MS = 60_000;
const SLOW_MS = 3_000;
const SLOWED_DOWN = _("Still checking … After wrong passwords or codes this takes longer.");

// Stands for a session that has ended, or whose cookie the browser does not send.
const SESSION_ENDED = "SessionEnded";
const NO_SESSION = _("Your session has ended, or your browser blocks cookies. Reload the page and sign in again.");

const state = JSON.parse(document.getElementById("auth-state").textContent);
const reload = document.getElementById("reload");

class Refusal extends Error {
  constructor(status, kind, body = {}) {
    super(kind);
    this.status = status;
    this.kind = kind;
    this.body = body;
  }
}

function tell({ error = "", progress = "" }) {
  document.getElementById("error").textContent = error;
  document.getElementById("progress").textContent = progress;
  reload.hidden = true;
}

// Marks fields with refused content until the user changes one of them.
function markWrong(...fields) {
  const unmark = () => {
    for (const field of fields) field.removeAttribute("aria-invalid");
  };
  for (const field of fields) {
    field.setAttribute("aria-invalid", "true");
    field.addEventListener("input", unmark, { once: true });
  }
  fields.at(-1).focus();
  fields.at(-1).select();
}

// Shows a section with a heading of its own in the place of another one.
function replaceBy(section, before) {
  const heading = section.querySelector("h1, h2");
  before.hidden = true;
  section.hidden = false;
  document.title = heading.textContent;
  heading.focus();
}

async function solve(tellLifetime = () => {}) {
  const answer = await fetch(state.pow, { method: "POST" });
  if (!answer.ok) throw new Refusal(answer.status, "", { retry_after: answer.headers.get("retry-after") });
  const challenge = await answer.text();
  // Version, difficulty, and expiry in Unix seconds.
  tellLifetime(Number(challenge.split(":")[2]) * 1000 - Date.parse(answer.headers.get("date")));
  const worker = new Worker(state.worker);
  let timer;
  try {
    return await new Promise((resolve, reject) => {
      worker.onmessage = (event) => resolve(event.data);
      worker.onerror = () => reject(new Error("the worker failed"));
      timer = setTimeout(() => reject(new Error("the worker took too long")), SOLVING_MS);
      worker.postMessage(challenge);
    });
  } finally {
    clearTimeout(timer);
    worker.terminate();
  }
}

// A solution is used until most of the lifetime of its challenge has passed, by the clock of the server.
const FRESH_MS = 20_000;
const SHARE = 0.6;
let ahead;

// Solves while the person types, so that the button need not wait; again when the solution is too old.
function solveAhead() {
  if (ahead && performance.now() < ahead.until) return;
  const begun = { until: performance.now() + FRESH_MS };
  // A failure is that of the attempt that needs the solution, which tries again.
  begun.found = solve((lifetime) => (begun.until += Math.min(SHARE * lifetime - FRESH_MS, 0))).catch(() => undefined);
  ahead = begun;
}

async function solution() {
  const begun = ahead;
  ahead = undefined;
  const found = begun && (await begun.found);
  return found && performance.now() < begun.until ? found : solve();
}

document.addEventListener("input", solveAhead);

async function send(members, action = state.action) {
  const answer = await fetch(action, {
    method: "POST",
    headers: { "content-type": "application/json", "x-csrf-token": state.csrf_token },
    body: JSON.stringify(members),
  });
  if (answer.ok) return answer;
  throw await refusalOf(answer);
}

async function refusalOf(answer) {
  const body = await answer.json();
  const hasEnded = answer.headers.get("www-authenticate")?.includes("session_ended");
  return new Refusal(answer.status, hasEnded ? SESSION_ENDED : body.error, {
    ...body,
    retry_after: answer.headers.get("retry-after"),
  });
}

// After wrong passwords and codes the server delays its response: tell the user who waits.
async function sendPatiently(members, action = state.action) {
  const slow = setTimeout(() => tell({ progress: SLOWED_DOWN }), SLOW_MS);
  try {
    return await send(members, action);
  } finally {
    clearTimeout(slow);
  }
}

// Continues to the result of a sign-in: an address, or a form to post.
async function follow(answer) {
  const location = answer.headers.get("location");
  if (location) {
    window.location.assign(location);
    return;
  }
  const sent = await answer.json();
  const form = postedForm(sent.redirect_uri, sent.parameters);
  document.body.append(form);
  form.submit();
}

// A form that posts parameters, which are pairs of names and values.
function postedForm(action, parameters) {
  const form = document.createElement("form");
  form.method = "post";
  form.action = action;
  for (const [name, value] of parameters) {
    const input = document.createElement("input");
    input.type = "hidden";
    input.name = name;
    input.value = value;
    form.append(input);
  }
  return form;
}

// Runs one attempt at a time; `explained` says what a refusal means. The focus comes back unless it was moved.
async function attempt(buttons, progress, { step, explained }) {
  const focused = document.activeElement;
  for (const button of buttons) button.disabled = true;
  tell({ progress });
  try {
    await step();
  } catch (failure) {
    const refusal = failure instanceof Refusal ? failure : new Refusal(0, "");
    for (const button of buttons) button.disabled = false;
    if ([document.body, focused].includes(document.activeElement)) focused.focus();
    refuse(refusal, explained);
  }
}

// A time from now in words, as the server has it for the pages.
function inTime(seconds) {
  const units = [[86_400, "day", 36 * 3600], [3600, "hour", 90 * 60], [60, "minute", 60], [1, "second", 0]];
  const [length, name] = units.find(([, , least]) => least <= seconds);
  return new Intl.RelativeTimeFormat(document.documentElement.lang).format(Math.ceil(seconds / length), name);
}

// A refused password has a text in the language of the person.
function notAccepted({ body }) {
  if (body.text) return body.text;
  return _("This was not accepted: %(reason)s.", { reason: body.message });
}

function refuse(refusal, explained) {
  tell({});
  const error = refusal.kind === SESSION_ENDED ? reloadable(NO_SESSION) : explained(refusal);
  document.getElementById("error").textContent = error;
}

// Offers to reload the page along with a text that asks for it.
function reloadable(text) {
  reload.hidden = false;
  return text;
}

function explainedByDefault({ status, body }) {
  if (status === 429) {
    const wait = Number(body.retry_after);
    if (wait > 0) return _("There were too many attempts. Try again %(when)s.", { when: inTime(wait) });
    return _("There were too many attempts. Wait a while, then try again.");
  }
  if (status === 403) return reloadable(_("This took too long, or you do not have access. Reload the page and try again."));
  if (status === 404) return _("This took too long. Try again.");
  if (status === 503) return _("The service is not available right now. Wait a moment, then try again.");
  if (status === 0) return _("The connection failed. Try again.");
  return _("Something went wrong. Go back to the application that you came from and try again.");
}

reload.addEventListener("click", () => window.location.reload());

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-reveals]");
  if (!button) return;
  const field = document.getElementById(button.dataset.reveals);
  const isShown = field.type === "text";
  field.type = isShown ? "password" : "text";
  button.textContent = isShown ? _("Show password") : _("Hide password");
});

// Browsers keep a password for the person only when it is sent from a password field.
document.addEventListener(
  "submit",
  ({ target }) => {
    for (const button of target.querySelectorAll("[data-reveals]")) {
      document.getElementById(button.dataset.reveals).type = "password";
      button.textContent = _("Show password");
    }
  },
  { capture: true },
);
