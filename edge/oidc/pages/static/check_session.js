"use strict";

// Session Management 1.0 §3.2: a page of a client sends its id and its session state, and gets a word back.

const { cookie } = document.currentScript.dataset;
const LONGEST = 1024;

function browserState() {
  const parts = document.cookie.split("; ").map((part) => part.split("="));
  return parts.find(([name]) => name === cookie)?.[1] ?? "";
}

function encoded(octets) {
  return btoa(String.fromCharCode(...octets)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// Browsers that hide the cookies of other sites would tell every page that its session has changed.
async function mayRead() {
  return document.hasStorageAccess ? document.hasStorageAccess() : true;
}

async function answer(text, origin) {
  const found = /^(\S+) ([\w-]+)\.(\w+)$/.exec(text);
  // Without TLS, browsers have no digests.
  if (!found || text.length > LONGEST || !crypto.subtle || !(await mayRead())) return "error";
  const [, client, told, salt] = found;
  const hashed = new TextEncoder().encode(`${client} ${origin} ${browserState()} ${salt}`);
  const digest = await crypto.subtle.digest("SHA-256", hashed);
  return encoded(new Uint8Array(digest)) === told ? "unchanged" : "changed";
}

window.addEventListener("message", async ({ data, origin, source }) => {
  // A page of an opaque origin cannot be answered.
  if (!source || origin === "null") return;
  source.postMessage(await answer(String(data), origin), origin);
});
