// Rules of the catalogue that the browser evaluates while a person edits a model.
//
// The rules are data that the server sends; a family of models has the subjects of rules and the checks of single rules. Subjects,
// paths and kinds of check are those of the server, and a test compares the findings of both over many models. FEEL is left to
// the server: a check marks what it does not decide.

import { LEFT, all, attribute, descendants, first, isTrue, without } from "markup";
import { reasonOf } from "timer_values";

export const EVENT_DEFINITION = "EventDefinition";
export const definitionsOf = ({ children }) => children.filter(({ tag }) => tag.endsWith(EVENT_DEFINITION));
const OUTSIDE_AD_HOC = "outside ad-hoc sub-processes";
// As many findings as the server sends.
const MOST_FINDINGS = 500;
// Reading a longer text, of some 3,500 drawn elements, stops the page for too long.
const MOST_CHARACTERS = 1_000_000;
// The page answers after so many milliseconds of work.
const SLICE = 8;

// Paths of rules

const BOOLEANS = { 1: "true", 0: "false" };
const EXPRESSIONS = new Set(
  "conditional context decisionTable every filter for functionDefinition invocation list literalExpression relation some".split(" "),
);

const fits = (markup, condition) => {
  if (condition === "none") return !definitionsOf(markup).length;
  if (condition.startsWith("@")) return attribute(markup, condition.slice(1)).trim() !== "";
  const [name, ...wanted] = condition.split("=");
  if (!wanted.length) return first(markup, name) !== undefined;
  const found = attribute(markup, name).trim();
  return (Object.hasOwn(BOOLEANS, found) ? BOOLEANS[found] : found) === wanted.join("=");
};

const parted = (path) => {
  const [name, ...rest] = without(path, "]").split("[");
  return [name, rest.join("[")];
};

const named = ({ markup, id, scope }, name) => {
  if (name === "incoming" || name === "outgoing") return scope?.[name].get(id) ?? [];
  if (name === "eventDefinition") return definitionsOf(markup);
  if (name === "expression") return markup.children.filter(({ tag }) => EXPRESSIONS.has(tag));
  if (name === "*") return descendants(markup).filter(({ tag }) => !tag.startsWith("zeebe:"));
  if (!name.startsWith("zeebe:")) return all(markup, name);
  const extensions = first(markup, "extensionElements");
  return extensions ? descendants(extensions).filter(({ tag }) => tag === name) : [];
};

export const elementsAt = (subject, path) => {
  const [name, condition] = parted(path);
  const found = named(subject, name);
  return condition ? found.filter((each) => fits(each, condition)) : found;
};

const isAt = (markup, path) => {
  const [name, condition] = parted(path);
  return markup.tag === name && (!condition || fits(markup, condition));
};

const single = (owner, name) => {
  if (name === "text()") return owner.text;
  return owner.attributes.get(name) ?? first(owner, name)?.text;
};

const valuesAt = (subject, path) => {
  const split = path.lastIndexOf("@");
  const owners = split > 0 ? elementsAt(subject, path.slice(0, split)) : [subject.markup];
  const names = path.slice(split + 1).split("+");
  return owners.map((at) => ({ at, text: names.length > 1 ? names.map((name) => single(at, name) ?? "").join(" + ") : single(at, names[0]) }));
};

export const written = (subject, path) => valuesAt(subject, path).filter(({ text }) => text !== undefined);

// Kinds of check: each yields what is wrong, and the element if it is not the subject

const holds = ({ min, max }, number) => (min ?? -Infinity) <= number && number <= (max ?? Infinity);
const limits = ({ min, max }) => {
  if (min === max) return `exactly ${min}`;
  const parts = [["at least", min], ["at most", max]];
  return parts.filter(([, limit]) => limit !== undefined).map((part) => part.join(" ")).join(" and ");
};
const isExcepted = (subject, rule) => rule.value.includes(OUTSIDE_AD_HOC) && Boolean(subject.scope?.isAdHoc);
const isCompensation = (node) => isTrue(node, "isForCompensation") || (node.tag === "boundaryEvent" && first(node, "compensateEventDefinition"));

const LEADING = ["documentation", "extensionElements", "auditing", "monitoring", "categoryValueRef", "incoming", "outgoing"];
const rank = ({ tag }) => (LEADING.includes(tag) ? LEADING.indexOf(tag) : LEADING.length);

const TARGETS = {
  "FlowNode of the same scope": ({ scope }, id) => Boolean(scope?.nodes.has(id)),
  "own outgoing flow": (subject, id) => elementsAt(subject, "outgoing").some((flow) => flow.attributes.get("id") === id),
  "Activity of the same scope": ({ scope }, id) => {
    const node = scope?.nodes.get(id);
    return Boolean(node) && !/(Event|Gateway)$/.test(node.tag) && !(node.tag === "subProcess" && isTrue(node, "triggeredByEvent"));
  },
  Error: ({ roots }, id) => roots.get(id)?.tag === "error",
  Escalation: ({ roots }, id) => roots.get(id)?.tag === "escalation",
  Message: ({ roots }, id) => roots.get(id)?.tag === "message",
  Signal: ({ roots }, id) => roots.get(id)?.tag === "signal",
};

// Properties of a scope with the nodes that a rule lists.
const PROPERTIES = {
  *"no cycle"(scope, through) {
    const cycle = scope.cycle(through);
    if (cycle.length) yield [`found a loop through ${cycle.sort(inCodePoints).join(", ")}`];
  },
  *reachable(scope, entries) {
    const free = scope.isAdHoc ? [...scope.nodes.keys()].filter((id) => !scope.incoming.has(id)) : [];
    const reached = scope.reachable([...entries, ...free]);
    for (const [id, node] of scope.nodes) if (!reached.has(id)) yield [`no path leads to ${id}`, node];
  },
};
// The order of the server; that of JavaScript is another beyond the first 65,536 characters.
const inCodePoints = (one, other) => {
  const [these, those] = [[...one], [...other]];
  const place = these.findIndex((character, index) => character !== those[index]);
  if (place < 0) return these.length - those.length;
  return place < those.length ? these[place].codePointAt(0) - those[place].codePointAt(0) : 1;
};

const escaped = (text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
const whole = (expression) => new RegExp(`^(?:${expression})$`, "u");
const WHOLE_NUMBER = /^[+-]?[0-9]{1,10}$/;

const texts = (check) =>
  function* (subject, rule) {
    for (const [place, path] of rule.attribute.entries()) {
      for (const { at, text } of written(subject, path)) yield* check(rule, path, text, at, rule.value[place]);
    }
  };

const EVALUATORS = {
  *schema(subject) {
    for (const at of [subject.markup, ...descendants(subject.markup)]) {
      const children = at.children.filter(({ tag }) => !tag.includes(":"));
      for (const [index, after] of children.slice(1).entries()) {
        const before = children[index];
        if (rank(before) > rank(after)) yield [`found ${after.tag} behind ${before.tag} in ${at.tag}`, at];
      }
    }
  },
  *"supported-type"({ markup }, rule) {
    const kind = without(markup.tag, EVENT_DEFINITION);
    if (!rule.value.includes(kind)) yield [`found ${kind}`];
  },
  *"required-attribute"(subject, rule) {
    for (const path of rule.attribute) {
      for (const { at, text } of valuesAt(subject, path)) if (!(text ?? "").trim()) yield [`${path} is missing or blank`, at];
    }
  },
  *unique(subject, rule) {
    for (const path of rule.attribute) {
      const seen = new Set();
      for (const { at, text } of written(subject, path)) {
        if (seen.has(text)) yield [`found ${text} again`, at];
        seen.add(text);
      }
    }
  },
  *reference(subject, rule) {
    for (const path of rule.attribute) {
      for (const { text } of valuesAt(subject, path)) {
        if (text === undefined && rule.bounds.min) yield [`${path} is missing`];
        else if (text !== undefined && !rule.value.some((kind) => TARGETS[kind](subject, text))) {
          yield [`${path} names ${text}, which is not there`];
        }
      }
    }
  },
  *count(subject, rule) {
    if (isExcepted(subject, rule)) return;
    for (const path of rule.attribute) {
      const number = elementsAt(subject, path).length;
      if (!holds(rule.bounds, number)) yield [`expected ${limits(rule.bounds)} ${path}, found ${number}`];
    }
  },
  *"flow-count"(subject, rule) {
    if ((rule.bounds.min && isCompensation(subject.markup)) || isExcepted(subject, rule)) return;
    const number = rule.attribute.reduce((sum, path) => sum + elementsAt(subject, path).length, 0);
    if (!holds(rule.bounds, number)) yield [`expected ${limits(rule.bounds)} ${rule.attribute.join(" and ")}, found ${number}`];
  },
  *"exactly-one-of"(subject, rule) {
    const present = rule.attribute.filter((path) => elementsAt(subject, path).length);
    if (present.length !== 1) yield [`expected one of ${rule.attribute.join(", ")}, found ${present.join(" and ") || "none"}`];
  },
  "forbidden-value": texts(function* (rule, path, text, at) {
    if (rule.patterns.some((pattern) => pattern.test(text))) yield [`${path} is ${text}`, at];
  }),
  "max-length": texts(function* (rule, path, text, at) {
    const length = [...text].length;
    if (text.startsWith("=") && !rule.value.includes("literal")) return;
    if (!holds(rule.bounds, length)) yield [`expected ${limits(rule.bounds)} characters in ${path}, found ${length}`, at];
  }),
  pattern: texts(function* (rule, path, text, at) {
    if (!rule.patterns.some((pattern) => pattern.test(text))) yield [`${path} is ${text}`, at];
  }),
  "number-range": texts(function* (rule, path, text, at) {
    if (text.startsWith("=")) yield [LEFT, at];
    else if (!WHOLE_NUMBER.test(text.trim()) || !holds(rule.bounds, Number(text))) {
      yield [`expected ${limits(rule.bounds)} in ${path}, found ${text || "nothing"}`, at];
    }
  }),
  "feel-expression": texts(function* (rule, path, text, at) {
    if (text.startsWith("=")) yield [LEFT, at];
    else if (rule.value.includes("expression-only")) yield [`${path} does not start with =, found ${text || "nothing"}`, at];
  }),
  "constant-expression": texts(function* (rule, path, text, at) {
    if (text.trim().startsWith("=")) yield [LEFT, at];
  }),
  timer: texts(function* (rule, path, text, at, form) {
    const reason = text.startsWith("=") ? LEFT : reasonOf[form](text.trim());
    if (reason) yield [reason === LEFT ? LEFT : `${path}: ${reason}`, at];
  }),
  *graph({ scope }, rule) {
    if (!scope) return;
    const nodes = [...scope.nodes].filter(([, node]) => rule.attribute.some((path) => isAt(node, path))).map(([id]) => id);
    for (const name of rule.value) yield* PROPERTIES[name](scope, nodes);
  },
  *custom(subject, rule) {
    for (const check of rule.checks) yield* check(subject);
  },
};

// Patterns of the rule, undefined when this browser has no such pattern.
const patternsOf = ({ evaluator, options: { value } }) => {
  if (evaluator === "forbidden-value") return value.map((each) => whole(each.split("*").map(escaped).join("[^]*")));
  if (evaluator !== "pattern") return [];
  try {
    return value.map(whole);
  } catch {
    return undefined;
  }
};

// Options without which the browser does not know what a rule means; every value is one for kinds that are not listed.
const KNOWN = {
  schema: (value) => value === "sequence",
  reference: (value) => Object.hasOwn(TARGETS, value),
  graph: (value) => Object.hasOwn(PROPERTIES, value),
  "feel-expression": (value) => ["expression-only", "static-or-expression"].includes(value),
  custom: (value, { checks }) => Object.hasOwn(checks, value),
};

const isDecidable = ({ family, static: isStatic, evaluator, appliesTo, options: { value } }, models) => {
  if (family !== models.family || !isStatic || !Object.hasOwn(EVALUATORS, evaluator)) return false;
  if (!appliesTo.every((type) => models.hasSubjects(type))) return false;
  return !Object.hasOwn(KNOWN, evaluator) || value.every((each) => KNOWN[evaluator](each, models));
};

const prepared = (rule, { checks }) => {
  const patterns = patternsOf(rule);
  const { min, max } = rule.options.bounds ?? {};
  const bounds = { min: min ?? undefined, max: max ?? undefined };
  const own = rule.evaluator === "custom" ? rule.options.value.map((name) => checks[name]) : [];
  return patterns && { ...rule, ...rule.options, bounds, patterns, checks: own };
};

const keyOf = ({ ruleId, elementId }) => JSON.stringify([ruleId, elementId]);

// `models` is the family of the models: `family` is its name, `read` takes a text and gives the file, undefined for one that is left
// to the server, `subjects` yields the elements that rules apply to, each with its types, and `checks` has the checks of single rules.
//
// `decides` has the ids of the rules that are evaluated here. `lint` gives the findings in a text, and which findings are left to
// the server although their rules are evaluated here; undefined for a text that is left to the server, or that is no longer current.
// A text beyond `mostCharacters` is left to the server.
export const linterOf = (catalogue, models) => {
  const rules = catalogue.filter((rule) => isDecidable(rule, models)).map((rule) => prepared(rule, models)).filter(Boolean);
  const known = new Map();
  const rulesAbout = (types) => {
    const key = types.join(" ");
    if (!known.has(key)) {
      const whole = types.some((type) => type.endsWith(":Definitions"));
      known.set(key, rules.filter(({ appliesTo }) => (appliesTo.length ? appliesTo.some((type) => types.includes(type)) : whole)));
    }
    return known.get(key);
  };
  const lint = async (text, isCurrent = () => true) => {
    const file = text.length > MOST_CHARACTERS ? undefined : models.read(text);
    if (!file) return undefined;
    const findings = [];
    const left = new Set();
    let end = performance.now() + SLICE;
    for (const subject of models.subjects(file)) {
      for (const rule of rulesAbout(subject.types)) {
        for (const [detail, at = subject.markup] of EVALUATORS[rule.evaluator](subject, rule)) {
          const isPart = at === subject.markup || at.tag.startsWith("zeebe:");
          const elementId = (isPart ? "" : attribute(at, "id")) || subject.id;
          const finding = { ruleId: rule.id, severity: rule.severity, elementId, message: `${rule.message}: ${String(detail)}`, line: 0 };
          if (detail === LEFT) left.add(keyOf(finding));
          else findings.push(finding);
          if (findings.length > MOST_FINDINGS) return undefined;
        }
      }
      if (performance.now() < end) continue;
      await new Promise((resume) => {
        setTimeout(resume);
      });
      if (!isCurrent()) return undefined;
      end = performance.now() + SLICE;
    }
    return { findings, isLeft: (finding) => left.has(keyOf(finding)) };
  };
  return { decides: new Set(rules.map(({ id }) => id)), mostCharacters: MOST_CHARACTERS, lint };
};
