// The table of a decision with its rules; those that matched are marked.

const section = document.getElementById("rules");
const words = section.dataset;
const matched = new Set(words.matched.split(" ").filter(Boolean).map(Number));

const children = (parent, name) => [...(parent?.children ?? [])].filter(({ localName }) => localName === name);
const child = (parent, name) => children(parent, name)[0];
const text = (parent) => child(parent, "text")?.textContent.trim() ?? "";

const cell = (name, content, scope) => {
  const made = document.createElement(name);
  made.textContent = content;
  if (scope) made.scope = scope;
  return made;
};

const row = (...cells) => {
  const made = document.createElement("tr");
  made.append(...cells);
  return made;
};

const draw = (table) => {
  const inputs = children(table, "input").map((each) => each.getAttribute("label") || text(child(each, "inputExpression")));
  const outputs = children(table, "output").map((each) => each.getAttribute("label") || each.getAttribute("name") || "");
  const policy = (table.getAttribute("hitPolicy") ?? "UNIQUE").charAt(0) + (table.getAttribute("aggregation") ?? "").toLowerCase();
  const head = document.createElement("thead");
  head.append(row(cell("th", policy, "col"), ...inputs.map((each) => cell("th", each, "col")), ...outputs.map((each) => cell("th", `→ ${each}`, "col")), cell("th", words.note, "col")));
  const body = document.createElement("tbody");
  body.append(
    ...children(table, "rule").map((rule, index) => {
      const number = cell("th", String(index + 1), "row");
      const entries = [...children(rule, "inputEntry"), ...children(rule, "outputEntry")].map((each) => {
        const made = cell("td", "");
        const code = cell("code", text(each) || "–");
        made.append(code);
        return made;
      });
      const made = row(number, ...entries, cell("td", text(child(rule, "annotationEntry")) || text(child(rule, "description")) || (child(rule, "description")?.textContent ?? "")));
      if (matched.has(index + 1)) {
        made.className = "matched";
        number.append(cell("span", ` ✓ ${words.match}`));
      }
      return made;
    }),
  );
  section.querySelector("table").replaceChildren(head, body);
  section.hidden = false;
};

const response = await fetch(words.model, { redirect: "manual" });
if (response.ok) {
  const file = new DOMParser().parseFromString(await response.text(), "text/xml");
  const decision = [...file.getElementsByTagNameNS("*", "decision")].find(
    (each) => each.getAttribute("id") === words.decision || `${file.documentElement.getAttribute("namespace")}#${each.getAttribute("name")}` === words.decision,
  );
  const table = child(decision, "decisionTable");
  if (table) draw(table);
}
