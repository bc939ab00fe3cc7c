// What the pages of a sign-in share: their state, the proof of work, requests, and what is told to the person.
"use strict";

const SOLVING_MS = 60_000;

const state = JSON.parse(document.getElementById("auth-state").textContent);

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
}

async function solution() {
  const answer = await fetch(state.pow, { method: "POST" });
  if (!answer.ok) throw new Refusal(answer.status, "");
  const challenge = await answer.text();
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

async function send(members, action = state.action) {
  const answer = await fetch(action, {
    method: "POST",
    headers: { "content-type": "application/json", "x-csrf-token": state.csrf_token },
    body: JSON.stringify(members),
  });
  if (!answer.ok) {
    const body = await answer.json();
    throw new Refusal(answer.status, body.error, body);
  }
  return answer;
}

// Goes where a sign-in leads: to an address, or with a form.
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

// Runs one attempt at a time; `explained` says what a refusal means.
async function attempt(buttons, progress, { step, explained }) {
  for (const button of buttons) button.disabled = true;
  tell({ progress });
  try {
    await step();
  } catch (failure) {
    tell({ error: explained(failure instanceof Refusal ? failure : new Refusal(0, "")) });
    for (const button of buttons) button.disabled = false;
  }
}

function explainedByDefault({ status }) {
  if (status === 429) return "There were too many attempts. Wait a while, then try again.";
  if (status === 403) return "That took too long, or you may not use this application.";
  if (status === 404) return "That took too long. Try again.";
  if (status === 0) return "The connection failed. Try again.";
  return "That did not work. Go back to the application that you came from and try again.";
}
