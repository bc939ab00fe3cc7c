// Rules of the catalogue that the browser evaluates while a person draws a process.
//
// The rules are data that the server sends. Subjects, paths and kinds of check are those of the server, and a test compares
// the findings of both over many models. Rules of other kinds are left to the server.

const SPELLED = new Map([
  ["http://www.omg.org/spec/BPMN/20100524/MODEL", ""],
  ["http://www.omg.org/spec/BPMN/20100524/DI", "bpmndi:"],
  ["http://camunda.org/schema/zeebe/1.0", "zeebe:"],
]);
// Attributes that a file may leave out.
const DEFAULTS = {
  "zeebe:taskDefinition": [["retries", "3"]],
  "zeebe:calledDecision": [["bindingType", "latest"]],
  "zeebe:formDefinition": [["bindingType", "latest"]],
  "zeebe:linkedResource": [["bindingType", "latest"]],
  "zeebe:calledElement": [
    ["bindingType", "latest"],
    ["propagateAllChildVariables", "true"],
    ["propagateAllParentVariables", "true"],
  ],
};
const EVENT_DEFINITION = "EventDefinition";
const OUTSIDE_AD_HOC = "outside ad-hoc sub-processes";
// A larger model takes too long for each change; the server checks it.
const MOST_ELEMENTS = 5000;

// Markup

const spelled = (element) => {
  const prefix = SPELLED.get(element.namespaceURI);
  if (prefix === undefined) return undefined;
  let text = "";
  for (let node = element.firstChild; node && node.nodeType !== Node.ELEMENT_NODE; node = node.nextSibling) {
    if (node instanceof Text) text += node.data;
  }
  const tag = prefix + element.localName;
  const plain = [...element.attributes].filter(({ namespaceURI }) => !namespaceURI);
  return {
    tag,
    attributes: new Map([...(Object.hasOwn(DEFAULTS, tag) ? DEFAULTS[tag] : []), ...plain.map(({ name, value }) => [name, value])]),
    children: [...element.children].map(spelled).filter(Boolean),
    text: text.trim(),
  };
};

const all = ({ children }, tag) => children.filter((child) => child.tag === tag);
const first = ({ children }, tag) => children.find((child) => child.tag === tag);
const descendants = ({ children }) => children.flatMap((child) => [child, ...descendants(child)]);
const attribute = ({ attributes }, name) => attributes.get(name) ?? "";
const isTrue = (markup, name) => ["true", "1"].includes(attribute(markup, name).trim());
const definitionsOf = ({ children }) => children.filter(({ tag }) => tag.endsWith(EVENT_DEFINITION));
const upper = (tag) => tag.slice(0, 1).toUpperCase() + tag.slice(1);
const without = (text, ending) => (text.endsWith(ending) ? text.slice(0, -ending.length) : text);

// Flow elements

const NO_FLOW_ELEMENTS = new Set(
  `artifact association auditing category completionCondition correlationSubscription dataObject dataObjectReference
  dataStoreReference documentation extensionElements group humanPerformer incoming ioBinding ioSpecification laneSet monitoring
  multiInstanceLoopCharacteristics outgoing performer potentialOwner property resourceRole standardLoopCharacteristics
  supportedInterfaceRef supports textAnnotation`.split(/\s+/),
);
// What an event can throw; one that throws anything else, or two things, is not executed.
const THROWN = {
  intermediateThrowEvent: ["", "escalation", "compensate", "link", "message", "signal"],
  endEvent: ["", "terminate", "error", "compensate", "escalation", "message", "signal"],
};

const flowElements = ({ children }) => children.filter(({ tag }) => !tag.includes(":") && !NO_FLOW_ELEMENTS.has(tag));
const isFlow = ({ tag }) => tag === "sequenceFlow";
const isEventSubProcess = (markup) => markup.tag === "subProcess" && isTrue(markup, "triggeredByEvent");
const isThrown = (markup) =>
  Object.hasOwn(THROWN, markup.tag) &&
  THROWN[markup.tag].includes(definitionsOf(markup).map(({ tag }) => without(tag, EVENT_DEFINITION)).join(" "));

// The first node of an id counts, and flows that dangle are left out.
const graphOf = (container) => {
  const elements = flowElements(container);
  const nodes = new Map();
  for (const node of elements.filter((each) => !isFlow(each))) {
    const id = attribute(node, "id");
    if (!nodes.has(id)) nodes.set(id, node);
  }
  const flows = elements.filter(isFlow).filter((flow) => ["sourceRef", "targetRef"].every((name) => nodes.has(attribute(flow, name))));
  const grouped = (name) => {
    const groups = new Map();
    for (const flow of flows) {
      const id = attribute(flow, name);
      groups.set(id, [...(groups.get(id) ?? []), flow]);
    }
    return groups;
  };
  return { nodes, incoming: grouped("targetRef"), outgoing: grouped("sourceRef"), isAdHoc: container.tag === "adHocSubProcess" };
};

// Subjects: elements with the types that rules apply to

const typed = (...names) => new Set(names.map((name) => `bpmn:${name}`));

const supertypes = (tag) => {
  if (tag.endsWith("Event")) return ["Event"];
  if (tag.endsWith("Gateway")) return ["Gateway"];
  return ["subProcess", "adHocSubProcess", "transaction"].includes(tag) ? ["SubProcess", "Activity"] : ["Activity"];
};

const elementTypes = (markup, scopeKind) => {
  const kind = upper(markup.tag);
  if (isEventSubProcess(markup)) return typed("SubProcess", "SubProcess[triggeredByEvent]", "FlowNode", "FlowElement");
  if (isFlow(markup)) return typed(kind, "FlowElement");
  const inside = markup.tag === "startEvent" ? [`StartEvent[${scopeKind}]`] : [];
  const sent = isThrown(markup) && first(markup, "messageEventDefinition") ? [`${kind}[message]`] : [];
  return typed(kind, ...inside, ...sent, ...supertypes(markup.tag), "FlowNode", "FlowElement");
};

function* partsOfNode(node, scope, scopeKind) {
  const id = attribute(node, "id");
  const isStart = node.tag === "startEvent" && scopeKind === "Process";
  const side = isStart ? "start" : isThrown(node) ? "throw" : "catch";
  for (const markup of definitionsOf(node)) {
    const kind = upper(markup.tag);
    yield { markup, id, types: typed(kind, `${kind}[${side}]`, EVENT_DEFINITION), scope };
  }
  const repeated = first(node, "multiInstanceLoopCharacteristics");
  if (repeated) yield { markup: repeated, id, types: typed("MultiInstanceLoopCharacteristics"), scope };
}

function* subjectsOfScope(container, scope, scopeKind) {
  for (const markup of flowElements(container)) {
    const id = attribute(markup, "id");
    yield { markup, id, types: elementTypes(markup, scopeKind), scope };
    if (!isFlow(markup)) yield* partsOfNode(markup, scope, scopeKind);
    if (!["subProcess", "adHocSubProcess"].includes(markup.tag)) continue;
    const isAdHoc = markup.tag === "adHocSubProcess";
    const kind = isAdHoc ? "AdHocSubProcess" : `${isEventSubProcess(markup) ? "Event" : "Embedded"}SubProcess`;
    const inside = graphOf(markup);
    yield { markup, id, types: typed(isAdHoc ? "AdHocScope" : kind, "FlowElementsContainer"), scope: inside };
    yield* subjectsOfScope(markup, inside, kind);
  }
}

// Messages and signals that executable processes use: the ids, each with the types of all its uses.
const used = (processes, kind, references, typesOf) => {
  const found = new Map();
  for (const process of processes) {
    for (const [id, node] of descendants(process).flatMap((each) => references(each))) {
      const isStart = node.tag === "startEvent" && process.children.includes(node);
      found.set(id, new Set([...(found.get(id) ?? []), ...typed(kind, ...typesOf(node, isStart))]));
    }
  }
  return found;
};

const messageReferences = (node) => {
  const definition = first(node, "messageEventDefinition");
  const id = (definition ?? node).attributes.get("messageRef");
  return id !== undefined && (definition || node.tag === "receiveTask") ? [[id, node]] : [];
};
const signalReferences = (node) => {
  const definition = first(node, "signalEventDefinition");
  return definition ? [[attribute(definition, "signalRef"), node]] : [];
};
const typesOfMessage = (node, isStart) => {
  if (isStart) return ["StartMessage"];
  return Object.hasOwn(THROWN, node.tag) ? [] : ["CaughtMessage"];
};

function* subjectsOf(file) {
  yield { markup: file, id: attribute(file, "id"), types: typed("Definitions"), roots: new Map() };
  const roots = new Map(["error", "escalation", "message", "signal"].flatMap((tag) => all(file, tag)).map((root) => [attribute(root, "id"), root]));
  for (const [id, root] of roots) {
    if (["error", "escalation"].includes(root.tag)) yield { markup: root, id, types: typed(upper(root.tag)), roots: new Map() };
  }
  const processes = all(file, "process").filter((process) => isTrue(process, "isExecutable"));
  const messages = used(processes, "Message", messageReferences, typesOfMessage);
  const signals = used(processes, "Signal", signalReferences, (_, isStart) => (isStart ? ["StartSignal"] : []));
  for (const [tag, found] of [["message", messages], ["signal", signals]]) {
    for (const [id, types] of found) if (roots.get(id)?.tag === tag) yield { markup: roots.get(id), id, types, roots: new Map() };
  }
  for (const process of processes) {
    const scope = graphOf(process);
    yield { markup: process, id: attribute(process, "id"), types: typed("Process", "FlowElementsContainer"), scope, roots };
    for (const subject of subjectsOfScope(process, scope, "Process")) yield { ...subject, roots };
  }
}

// Paths of rules

const BOOLEANS = { 1: "true", 0: "false" };

const fits = (markup, condition) => {
  if (condition === "none") return !definitionsOf(markup).length;
  if (condition.startsWith("@")) return attribute(markup, condition.slice(1)).trim() !== "";
  const [name, ...wanted] = condition.split("=");
  if (!wanted.length) return first(markup, name) !== undefined;
  const found = attribute(markup, name).trim();
  return (Object.hasOwn(BOOLEANS, found) ? BOOLEANS[found] : found) === wanted.join("=");
};

const named = ({ markup, id, scope }, name) => {
  if (name === "incoming" || name === "outgoing") return scope?.[name].get(id) ?? [];
  if (name === "eventDefinition") return definitionsOf(markup);
  if (name === "*") return descendants(markup).filter(({ tag }) => !tag.startsWith("zeebe:"));
  if (!name.startsWith("zeebe:")) return all(markup, name);
  const extensions = first(markup, "extensionElements");
  return extensions ? descendants(extensions).filter(({ tag }) => tag === name) : [];
};

const elementsAt = (subject, path) => {
  const [name, ...rest] = without(path, "]").split("[");
  const found = named(subject, name);
  return rest.length ? found.filter((each) => fits(each, rest.join("["))) : found;
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

const written = (subject, path) => valuesAt(subject, path).filter(({ text }) => text !== undefined);

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
    return Boolean(node) && !/(Event|Gateway)$/.test(node.tag) && !isEventSubProcess(node);
  },
  Error: ({ roots }, id) => roots.get(id)?.tag === "error",
  Escalation: ({ roots }, id) => roots.get(id)?.tag === "escalation",
  Message: ({ roots }, id) => roots.get(id)?.tag === "message",
  Signal: ({ roots }, id) => roots.get(id)?.tag === "signal",
};

const escaped = (text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
const whole = (expression) => new RegExp(`^(?:${expression})$`, "u");

const texts = (check) =>
  function* (subject, rule) {
    for (const path of rule.attribute) for (const { at, text } of written(subject, path)) yield* check(rule, path, text, at);
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

const isDecidable = ({ family, static: isStatic, evaluator, options: { value } }) => {
  if (family !== "bpmn" || !isStatic || !Object.hasOwn(EVALUATORS, evaluator)) return false;
  if (evaluator === "schema") return value.includes("sequence");
  return evaluator !== "reference" || value.every((kind) => Object.hasOwn(TARGETS, kind));
};

const prepared = (rule) => {
  const patterns = patternsOf(rule);
  const { min, max } = rule.options.bounds ?? {};
  return patterns && { ...rule, ...rule.options, bounds: { min: min ?? undefined, max: max ?? undefined }, patterns };
};

const isAbout = ({ appliesTo }, types) => (appliesTo.length ? appliesTo.some((type) => types.has(type)) : types.has("bpmn:Definitions"));

function* findings(rules, file) {
  for (const subject of subjectsOf(file)) {
    for (const rule of rules.filter((each) => isAbout(each, subject.types))) {
      for (const [detail, at = subject.markup] of EVALUATORS[rule.evaluator](subject, rule)) {
        const isPart = at === subject.markup || at.tag.startsWith("zeebe:");
        const elementId = (isPart ? "" : attribute(at, "id")) || subject.id;
        yield { ruleId: rule.id, severity: rule.severity, elementId, message: `${rule.message}: ${detail}`, line: 0 };
      }
    }
  }
}

// `decides` tells the ids of the rules that are evaluated here; `lint` gives the findings in a file, undefined for a file that is
// left to the server.
export const linterOf = (catalogue) => {
  const rules = catalogue.filter(isDecidable).map(prepared).filter(Boolean);
  return {
    decides: new Set(rules.map(({ id }) => id)),
    lint: (text) => {
      const { documentElement: root } = new DOMParser().parseFromString(text, "text/xml");
      const found = root.getElementsByTagName("*").length;
      if (found > MOST_ELEMENTS || root.getElementsByTagName("parsererror").length) return undefined;
      const file = spelled(root);
      return file?.tag === "definitions" ? [...findings(rules, file)] : undefined;
    },
  };
};
