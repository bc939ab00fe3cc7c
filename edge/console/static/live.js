// Renews a page while what it shows changes.
//
// A stream of server-sent events brings the small document of the page whenever it changed. A hidden tab has no stream.
// A stream that fails is opened again after a pause that grows, and the document is fetched once meanwhile. After a
// change the page is fetched again, more seldom while changes go on, and its parts take the place of those shown. A part
// in which somebody writes stays.

const SHORTEST = 1000;
const LONGEST = 30000;
const LONGEST_RENEWAL = 10000;
const GROWTH = 1.5;

const address = document.querySelector("[data-live]")?.dataset.live;
const first = document.getElementById("state")?.textContent ?? "";
let seen = first && JSON.stringify(JSON.parse(first));
let isFinal = Boolean(first && JSON.parse(first).isFinal);
let source;
let pause = SHORTEST;
let timer = 0;
let gap = SHORTEST;
let renewal = 0;
let renewedAt = -Infinity;

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

// A link or a table that has the focus keeps it, so that the keyboard continues there.
const told = (element) => element.getAttribute("aria-labelledby") ?? element.textContent;
const isSame = (one, other) => one.className === other.className && told(one) === told(other);

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
    const focused = part.contains(document.activeElement) ? document.activeElement : undefined;
    part.replaceWith(adopted);
    if (focused) [...adopted.querySelectorAll(focused.localName)].find((each) => isSame(each, focused))?.focus({ preventScroll: true });
  }
  document.dispatchEvent(new Event("renewed"));
};

const renewLater = () => {
  if (renewal) return;
  const since = performance.now() - renewedAt;
  gap = since > 2 * gap ? SHORTEST : Math.min(gap * GROWTH, LONGEST_RENEWAL);
  renewal = setTimeout(async () => {
    renewal = 0;
    renewedAt = performance.now();
    await renew().catch(() => {});
  }, gap - since);
};

const take = (state) => {
  isFinal = state.isFinal;
  const text = JSON.stringify(state);
  if (text === seen) return;
  seen = text;
  document.dispatchEvent(new CustomEvent("live", { detail: state }));
  renewLater();
};

const close = () => {
  clearTimeout(timer);
  source?.close();
  source = undefined;
};

const open = () => {
  close();
  if (document.hidden || isFinal) return;
  source = new EventSource(address);
  source.addEventListener("message", ({ data }) => {
    pause = SHORTEST;
    take(JSON.parse(data));
    if (isFinal) close();
  });
  source.addEventListener("error", reopen);
};

// EventSource does not tell a server at its bound from an ended session.
const reopen = async () => {
  close();
  const response = await fetch(address, { cache: "no-cache", redirect: "manual" }).catch(() => undefined);
  if (response?.ok) take(await response.json());
  else if (response && response.status < 500 && response.status !== 429) isFinal = true;
  if (isFinal || source) return;
  timer = setTimeout(open, pause * (0.5 + Math.random()));
  pause = Math.min(pause * GROWTH, LONGEST);
};

if (address) {
  open();
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
}
