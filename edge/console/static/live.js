// Renews a page while what it shows changes.
//
// A small document is polled, soon after a change and ever more seldom without one; a hidden tab asks nothing. After a
// change the page is fetched again, and its parts take the place of those shown. A part in which somebody writes stays.

const SHORTEST = 2000;
const LONGEST = 30000;
const GROWTH = 1.5;

const address = document.querySelector("[data-live]")?.dataset.live;
const first = document.getElementById("state")?.textContent ?? "";
let seen = first && JSON.stringify(JSON.parse(first));
let pause = SHORTEST;
let timer = 0;
let isFinal = Boolean(first && JSON.parse(first).isFinal);

const isInUse = (part) =>
  part.contains(document.activeElement) && document.activeElement.matches("input, select, textarea, button, summary");
const isChanged = (part) =>
  [...part.querySelectorAll("input, select, textarea")].some((field) =>
    field.type === "checkbox" || field.type === "radio"
      ? field.checked !== field.defaultChecked
      : field.tagName === "SELECT"
        ? [...field.options].some((option) => option.selected !== option.defaultSelected && field.selectedIndex > 0)
        : field.value !== field.defaultValue,
  );

const renew = async () => {
  const response = await fetch(location.href, { redirect: "manual" });
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  for (const part of document.querySelectorAll("[data-part]")) {
    const next = page.querySelector(`[data-part="${part.dataset.part}"]`);
    if (!next || isInUse(part) || isChanged(part)) continue;
    const open = new Set([...part.querySelectorAll("details[open][id]")].map(({ id }) => id));
    const adopted = document.adoptNode(next);
    for (const each of adopted.querySelectorAll("details[id]")) each.open = open.has(each.id);
    part.replaceWith(adopted);
  }
  document.dispatchEvent(new Event("renewed"));
};

const poll = async () => {
  clearTimeout(timer);
  if (document.hidden || isFinal) return;
  let response;
  try {
    response = await fetch(address, { cache: "no-cache", redirect: "manual" });
  } catch {
    response = undefined;
  }
  if (response?.ok) {
    const state = await response.json();
    const text = JSON.stringify(state);
    pause = text === seen ? Math.min(pause * GROWTH, LONGEST) : SHORTEST;
    if (text !== seen) {
      seen = text;
      document.dispatchEvent(new CustomEvent("live", { detail: state }));
      await renew();
    }
    isFinal = state.isFinal;
  } else if (!response || response.status >= 500 || response.status === 429) {
    pause = LONGEST;
  } else {
    // The session has ended, or there is no such page any more.
    isFinal = true;
  }
  if (!isFinal) timer = setTimeout(poll, pause);
};

if (address) {
  timer = setTimeout(poll, pause);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    pause = SHORTEST;
    poll();
  });
}
