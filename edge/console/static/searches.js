// Searches that this browser keeps for a person in a tenant: names with the query of the address.

const MOST = 50;

const section = document.getElementById("searches");
const list = section.querySelector("ul");
const form = section.querySelector("form");
const { store, remove } = section.dataset;

const saved = () => {
  try {
    const found = JSON.parse(localStorage.getItem(store) ?? "[]");
    return Array.isArray(found) ? found : [];
  } catch {
    return [];
  }
};

// Fields without a value, and the position of a page, are no part of a search.
const query = () => {
  const asked = new URLSearchParams(location.search);
  for (const [name, value] of [...asked]) if (!value || name === "after") asked.delete(name);
  return asked.toString();
};

const keep = (searches) => {
  localStorage.setItem(store, JSON.stringify(searches));
  show();
};

const row = ({ name, query: asked }) => {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = `${location.pathname}?${new URLSearchParams(asked)}`;
  link.textContent = name;
  if (asked === query()) link.setAttribute("aria-current", "true");
  const button = document.createElement("button");
  button.className = "quiet";
  button.textContent = "\u00d7";
  button.setAttribute("aria-label", `${remove} ${name}`);
  button.addEventListener("click", () => keep(saved().filter((each) => each.name !== name)));
  item.append(link, button);
  return item;
};

const show = () => {
  const searches = saved();
  list.replaceChildren(...searches.map(row));
  list.hidden = !searches.length;
  form.hidden = !query() || searches.some((each) => each.query === query());
  section.hidden = list.hidden && form.hidden;
};

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const name = form.elements.name.value.trim();
  if (!name) return;
  keep([...saved().filter((each) => each.name !== name), { name, query: query() }].slice(-MOST));
  form.reset();
  list.querySelector("li:last-child a")?.focus();
});
show();
