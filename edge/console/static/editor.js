// The frame of an editor: the draft in this tab, findings of the browser and the server, deployment.
//
// The editor of a kind is an adapter: open and write the text of a model, select and mark its elements.

const root = document.getElementById("editor");
const words = root.dataset;
const part = (id) => document.getElementById(id);
const [file, elements, restored, refusal, deployed] = ["file", "elements", "restored", "refusal", "deployed"].map(part);
const token = root.querySelector("[name=csrf_token]").value;

// The policy permits style elements with the nonce of the page, and style attributes that a script sets. The editors make
// an element for each field of code, and have attributes in constant markup.
const { nonce } = document.querySelector("script[nonce]");
const createElement = document.createElement.bind(document);
document.createElement = (name, options) => {
  const made = createElement(name, options);
  if (made instanceof HTMLStyleElement) made.nonce = nonce;
  return made;
};
const markup = Object.getOwnPropertyDescriptor(Element.prototype, "innerHTML");
const STYLED = /(<[a-z][^<>]*) style=/g;
const permitStyles = () =>
  Object.defineProperty(Element.prototype, "innerHTML", {
    ...markup,
    set(text) {
      markup.set.call(this, String(text).replace(STYLED, "$1 data-style="));
      for (const each of this.querySelectorAll("[data-style]")) {
        each.style.cssText = each.dataset.style;
        delete each.dataset.style;
      }
    },
  });

const call = (path, init) =>
  fetch(path, {
    method: "POST",
    redirect: "manual",
    ...init,
    headers: { Accept: "application/json", "X-CSRF-Token": token, "X-Tenant-Id": words.tenant, ...init.headers },
  });

const reasonOf = async (response) => {
  if (response.status === 401 || response.type === "opaqueredirect") return words.lost;
  const { detail } = await response.json().catch(() => ({}));
  return `${words.refused} ${detail ?? response.status}`;
};

const tell = (place, text = "", ...others) => {
  place.replaceChildren(text, ...others);
  place.hidden = !text;
};

const [{ editorOf, hasStyledMarkup }, { words: translations, findings: findingWords }] = await Promise.all([
  import(words.adapter),
  fetch(words.words).then((response) => response.json()),
]);
if (hasStyledMarkup) permitStyles();
root.hidden = false;
part("waiting").remove();
const translatorOf = (known) => (template, values = {}) =>
  (Object.hasOwn(known, template) ? known[template] : template).replace(/{([^}]+)}/g, (_, name) => values[name] ?? `{${name}}`);
// Editors ask for each text that they show.
const translate = translatorOf(translations);
// A finding is what a rule says, and most often what was expected and found.
const phrase = translatorOf(findingWords);
const BOUND = /\b(at least|at most|exactly)(?= \d)/g;
const detailed = (detail) => {
  const [, wanted, found] = /^expected (.*), found (.*)$/s.exec(detail) ?? [];
  if (wanted === undefined) return detail;
  return phrase(words.detail, { wanted: wanted.replace(BOUND, (bound) => phrase(bound)), found });
};
const phrased = (message) => {
  const cut = message.indexOf(": ");
  return cut < 0 ? phrase(message) : [phrase(message.slice(0, cut)), detailed(message.slice(cut + 2))].join(": ");
};
const editor = editorOf(root.querySelector(".drawing"), root.querySelector(".properties"), { translate, translations });

const nameOfFile = () => file.value.trim() || `${editor.id() || words.kind}${words.ending}`;

// The draft

const PAUSE = 300;
let isKept = true;
let isLeft = false;
let keeping = 0;
// Counts the changes: a text that was written before the latest one is no draft.
let edition = 0;

const keep = async () => {
  clearTimeout(keeping);
  keeping = 0;
  const kept = edition;
  const text = await editor.text();
  if (isLeft || kept !== edition) return;
  try {
    sessionStorage.setItem(words.draft, JSON.stringify({ text, file: file.value }));
    isKept = true;
  } catch {
    isKept = false;
    tell(refusal, words.large);
  }
};

const forget = () => {
  clearTimeout(keeping);
  keeping = 0;
  edition += 1;
  isKept = true;
  sessionStorage.removeItem(words.draft);
  restored.hidden = true;
};

// The frame of the page deletes the drafts at a sign-out.
addEventListener("submit", ({ target }) => (isLeft ||= target.matches("header form")), true);
addEventListener("beforeunload", (event) => isKept || event.preventDefault());
addEventListener("pagehide", () => keeping && keep());

// Findings

const LINT_PAUSE = 500;
// One frame of most screens, so that a drag is not checked at each step.
const LINT_HERE_PAUSE = 50;
let linting;
let lintLater = 0;
let lintHereLater = 0;
// The rules that this browser evaluates, none until the server has sent them.
let here;
// Characters of the text that the server checked last.
let size = 0;
let told = { findings: [], totalFindings: 0 };

const show = ({ findings: found, totalFindings }) => {
  const findings = found.map((each) => ({ ...each, message: phrased(each.message) }));
  const errors = findings.filter(({ severity }) => severity === "error").length;
  const counts = [[words.errors, errors], [words.warnings, findings.length - errors]].filter(([, count]) => count);
  const more = totalFindings - findings.length;
  part("summary").textContent =
    (counts.map((each) => each.join(": ")).join(", ") || words.clean) + (more > 0 ? ` ${more} ${words.more}` : "");
  const list = part("findings");
  list.hidden = !findings.length;
  list.replaceChildren(
    ...findings.map(({ severity, elementId, message, ruleId, line }) => {
      const row = document.createElement("li");
      row.dataset.rule = ruleId;
      const kind = document.createElement("span");
      kind.className = severity === "error" ? "state bad" : "state";
      kind.textContent = words[severity] ?? severity;
      const text = document.createElement("span");
      text.className = "grow";
      text.textContent = message;
      const place = document.createElement("button");
      place.type = "button";
      place.className = "quiet";
      place.textContent = elementId ? (editor.nameOf(elementId) ?? elementId) : words.model;
      if (!elementId && line) place.textContent += `, ${words.line} ${line}`;
      place.addEventListener("click", () => elementId && editor.select(elementId));
      row.append(kind, text, place);
      return row;
    }),
  );
  editor.mark(findings);
};

// Findings of the server keep their places; those of rules that are evaluated here come and go at once.
const merged = ({ findings: found, isLeft }) => {
  const named = ({ ruleId, elementId, message }) => JSON.stringify([ruleId, elementId, message]);
  const names = new Set(found.map(named));
  const kept = told.findings.filter((each) => !here.decides.has(each.ruleId) || isLeft(each) || names.has(named(each)));
  const known = new Set(kept.map(named));
  return [...kept, ...found.filter((each) => !known.has(named(each)))];
};

const lintHere = async () => {
  clearTimeout(lintHereLater);
  // The text of a large model is not even made.
  if (!here || size > here.mostCharacters) return;
  const checked = edition;
  const isCurrent = () => checked === edition;
  const found = await here.lint(await editor.text(), isCurrent);
  if (!found || !isCurrent()) return;
  const findings = merged(found);
  show({ findings, totalFindings: findings.length + told.totalFindings - told.findings.length });
};

const lint = async () => {
  clearTimeout(lintLater);
  linting?.abort();
  linting = new AbortController();
  const { signal } = linting;
  const sent = edition;
  const includeRules = !here;
  const content = await editor.text();
  size = content.length;
  const body = JSON.stringify({ resourceName: nameOfFile(), content, includeRules });
  try {
    const response = await call("/api/v1/console/modeling/lint", { body, signal, headers: { "Content-Type": "application/json" } });
    if (!response.ok) {
      part("summary").textContent = await reasonOf(response);
      return;
    }
    const { rules, ...found } = await response.json();
    if (includeRules) {
      const [{ linterOf }, { models }] = await Promise.all([import("lint"), import(`lint_${words.kind}`)]);
      here = linterOf(rules, models);
    }
    told = found;
    // What was drawn while the server checked is checked here.
    if (sent === edition) show(told);
    else await lintHere();
  } catch {
    if (!signal.aborted) part("summary").textContent = words.unreachable;
  }
};

const list = () => {
  const chosen = elements.value;
  elements.replaceChildren(
    ...editor.elements().map(({ id, name }) => {
      const option = document.createElement("option");
      option.value = id;
      option.textContent = name;
      return option;
    }),
  );
  elements.value = chosen;
};

const changed = () => {
  edition += 1;
  clearTimeout(keeping);
  keeping = setTimeout(keep, PAUSE);
  clearTimeout(lintLater);
  lintLater = setTimeout(lint, LINT_PAUSE);
  clearTimeout(lintHereLater);
  lintHereLater = setTimeout(lintHere, LINT_HERE_PAUSE);
  list();
};

// Deployment

const link = (address, text) => {
  const made = document.createElement("a");
  made.href = address;
  made.textContent = text;
  return made;
};

const tellDeployed = ({ deployments }) => {
  const found = deployments.flatMap((each) => Object.entries(each)).filter(([, value]) => value);
  const parts = found.flatMap(([kind, value]) => {
    if (kind === "processDefinition") {
      const page = `${words.processes}/${value.processDefinitionKey}`;
      return [
        ` ${value.processDefinitionId}, ${words.version} ${value.processDefinitionVersion}. `,
        link(page, words.show),
        " · ",
        link(`${page}/start?run=test`, words.run),
      ];
    }
    if (kind === "decisionDefinition") {
      const page = `${words.decisions}/${value.decisionDefinitionKey}`;
      return [` ${value.decisionDefinitionId}, ${words.version} ${value.version}. `, link(page, words.show)];
    }
    return kind === "form" ? [` ${value.formId}, ${words.version} ${value.version}.`] : [];
  });
  tell(deployed, words.deployed, ...parts);
};

const deploy = async (button) => {
  button.disabled = true;
  tell(refusal);
  tell(deployed);
  const sent = edition;
  try {
    const body = new FormData();
    body.append("resources", new File([await editor.text()], nameOfFile()));
    const response = await call("/v2/deployments", { body });
    if (response.ok) {
      tellDeployed(await response.json());
      // What was drawn while the server deployed stays a draft.
      if (sent === edition) forget();
    } else {
      tell(refusal, await reasonOf(response));
    }
    await lint();
  } catch {
    tell(refusal, words.unreachable);
  } finally {
    button.disabled = false;
  }
};

const download = async () => {
  const made = link(URL.createObjectURL(new Blob([await editor.text()])), "");
  made.download = nameOfFile();
  made.click();
  URL.revokeObjectURL(made.href);
};

const acts = {
  undo: () => editor.undo(),
  redo: () => editor.redo(),
  download,
  deploy,
  discard: () => {
    forget();
    location.reload();
  },
};
root.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-act]");
  if (button) acts[button.dataset.act](button);
});
elements.addEventListener("change", () => editor.select(elements.value));
file.addEventListener("input", changed);
part("opened").addEventListener("change", async ({ target }) => {
  const [chosen] = target.files;
  if (!chosen) return;
  tell(refusal);
  try {
    await editor.open(await chosen.text());
    file.value = chosen.name;
    changed();
  } catch ({ message }) {
    tell(refusal, `${words.unread} ${message}`);
  }
});

// Templates of elements: ours, and those of a file of the person, which this tab keeps

const ours = JSON.parse(words.templates ?? "[]");
const useTemplates = (own) => {
  const ids = new Set(own.map(({ id }) => id));
  return editor.setTemplates([...ours.filter(({ id }) => !ids.has(id)), ...own]);
};
part("templates")?.addEventListener("change", async ({ target }) => {
  const [chosen] = target.files;
  if (!chosen) return;
  tell(refusal);
  try {
    const own = [JSON.parse(await chosen.text())].flat();
    const refused = useTemplates(own);
    if (refused.length) throw new Error(refused.join(" "));
    tell(deployed, `${words.templated} ${own.map(({ name }) => name).join(", ")}`);
    sessionStorage.setItem(words.own, JSON.stringify(own));
  } catch ({ message }) {
    tell(refusal, `${words.untemplated} ${message}`);
  }
});

// The first model

const draft = JSON.parse(sessionStorage.getItem(words.draft) ?? "null");
const deployedText = async () => {
  const response = await fetch(words.source, { redirect: "manual" });
  if (!response.ok) throw new Error(await reasonOf(response));
  return response.text();
};
try {
  if (words.templates) useTemplates(JSON.parse(sessionStorage.getItem(words.own) ?? "[]"));
  await editor.open(draft?.text ?? (words.source ? await deployedText() : editor.empty()));
  if (draft) {
    file.value = draft.file;
    restored.hidden = false;
  }
  list();
  editor.onChange(changed);
  editor.onSelect((id) => (elements.value = id));
  await lint();
} catch ({ message }) {
  tell(refusal, `${words.unread} ${message}`);
  restored.hidden = !draft;
  for (const button of root.querySelectorAll("[data-act]:not([data-act=discard])")) button.disabled = true;
  part("opened").disabled = true;
}
words.ready = "";
