// Processes for the linter: subjects of rules, the graph of a scope, and checks that only one rule uses.

import { EVENT_DEFINITION, definitionsOf, elementsAt, written } from "lint";
import { LEFT, all, attribute, descendants, first, isFalse, isTrue, markupOf, upper, without } from "markup";

const BPMN = "http://www.omg.org/spec/BPMN/20100524/MODEL";
const SPELLED = new Map([
  [BPMN, ""],
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

const read = (text) => {
  const file = markupOf(text, (namespace) => namespace === BPMN && SPELLED, DEFAULTS);
  return file?.tag === "definitions" ? file : undefined;
};

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
const kindsOf = (event) => definitionsOf(event).map(({ tag }) => without(tag, EVENT_DEFINITION));
const isThrown = (markup) => Object.hasOwn(THROWN, markup.tag) && THROWN[markup.tag].includes(kindsOf(markup).join(" "));
const isEventOrGateway = ({ tag }) => /(Event|Gateway)$/.test(tag);
// The name of a link that an event catches or throws, undefined for other events.
const linkOf = (event) => first(event, "linkEventDefinition")?.attributes.get("name");
const caughtLinkOf = (node) => (node.tag === "intermediateCatchEvent" && kindsOf(node).join(" ") === "link" ? linkOf(node) : undefined);

const grouped = (pairs) => {
  const groups = new Map();
  for (const [id, found] of pairs) {
    if (groups.has(id)) groups.get(id).push(found);
    else groups.set(id, [found]);
  }
  return groups;
};

// The first node of an id counts, and flows that dangle are left out.
class Scope {
  constructor(container) {
    const elements = flowElements(container);
    this.isAdHoc = container.tag === "adHocSubProcess";
    this.nodes = new Map();
    for (const node of elements.filter((each) => !isFlow(each))) {
      const id = attribute(node, "id");
      if (!this.nodes.has(id)) this.nodes.set(id, node);
    }
    const flows = elements.filter(isFlow).filter((flow) => ["sourceRef", "targetRef"].every((name) => this.nodes.has(attribute(flow, name))));
    this.incoming = grouped(flows.map((flow) => [attribute(flow, "targetRef"), flow]));
    this.outgoing = grouped(flows.map((flow) => [attribute(flow, "sourceRef"), flow]));
    const links = [...this.nodes].map(([id, node]) => [caughtLinkOf(node), id]);
    this.links = new Map(links.filter(([name]) => name !== undefined));
    const associations = all(container, "association").map((each) => [attribute(each, "sourceRef"), attribute(each, "targetRef")]);
    this.handlers = grouped(associations.filter(([, id]) => this.nodes.has(id) && isTrue(this.nodes.get(id), "isForCompensation")));
    const attached = [...this.nodes.values()].filter(({ tag }) => tag === "boundaryEvent");
    this.attached = attached.map((event) => [attribute(event, "attachedToRef"), event]);
    this.hosts = new Set(this.attached.map(([host]) => host));
  }

  entering(id) {
    return this.incoming.get(id) ?? [];
  }

  leaving(id) {
    return this.outgoing.get(id) ?? [];
  }

  successors(id) {
    const node = this.nodes.get(id);
    const link = node && isThrown(node) ? this.links.get(linkOf(node)) : undefined;
    const targets = this.leaving(id).map((flow) => attribute(flow, "targetRef"));
    return [...targets, ...(this.handlers.get(id) ?? []), ...(link ? [link] : [])];
  }

  reachable(roots) {
    const found = new Set();
    const waiting = [...roots];
    while (waiting.length) {
      const id = waiting.pop();
      if (found.has(id)) continue;
      found.add(id);
      waiting.push(...this.successors(id));
    }
    return found;
  }

  // The nodes of one cycle, the one that the server finds.
  cycle(through) {
    const inner = new Map(through.map((id) => [id, []]));
    for (const id of through) inner.set(id, this.successors(id).filter((target) => inner.has(target)));
    const leading = grouped([...inner].flatMap(([id, targets]) => targets.map((target) => [target, id])));
    const left = new Map([...inner].map(([id, targets]) => [id, targets.length]));
    const ends = through.filter((id) => !left.get(id));
    while (ends.length) {
      const end = ends.pop();
      left.delete(end);
      for (const id of leading.get(end) ?? []) {
        left.set(id, left.get(id) - 1);
        if (!left.get(id)) ends.push(id);
      }
    }
    const path = new Set();
    let [id] = left.keys();
    while (id !== undefined && !path.has(id)) {
      path.add(id);
      id = inner.get(id).find((target) => left.has(target));
    }
    const ids = [...path];
    return ids.slice(id === undefined ? 0 : ids.indexOf(id));
  }
}

// Subjects: elements with the types that rules apply to

const typed = (...names) => names.map((name) => `bpmn:${name}`);

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
    const inside = new Scope(markup);
    yield { markup, id, types: typed(isAdHoc ? "AdHocScope" : kind, "FlowElementsContainer"), scope: inside };
    yield* subjectsOfScope(markup, inside, kind);
  }
}

// Messages and signals that executable processes use: the ids, each with the types of all its uses.
const used = (processes, kind, references, typesOf) => {
  const found = new Map();
  for (const process of processes) {
    const own = new Set(process.children);
    for (const [id, node] of descendants(process).flatMap((each) => references(each))) {
      const isStart = node.tag === "startEvent" && own.has(node);
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

const isExecutable = (process) => isTrue(process, "isExecutable");

function* subjects(file) {
  yield { markup: file, id: attribute(file, "id"), types: typed("Definitions"), roots: new Map() };
  const roots = new Map(["error", "escalation", "message", "signal"].flatMap((tag) => all(file, tag)).map((root) => [attribute(root, "id"), root]));
  for (const [id, root] of roots) {
    if (["error", "escalation"].includes(root.tag)) yield { markup: root, id, types: typed(upper(root.tag)), roots: new Map() };
  }
  const processes = all(file, "process").filter(isExecutable);
  const messages = used(processes, "Message", messageReferences, typesOfMessage);
  const signals = used(processes, "Signal", signalReferences, (_, isStart) => (isStart ? ["StartSignal"] : []));
  for (const [tag, found] of [["message", messages], ["signal", signals]]) {
    for (const [id, types] of found) if (roots.get(id)?.tag === tag) yield { markup: roots.get(id), id, types: [...types], roots: new Map() };
  }
  for (const process of processes) {
    const scope = new Scope(process);
    yield { markup: process, id: attribute(process, "id"), types: typed("Process", "FlowElementsContainer"), scope, roots };
    for (const subject of subjectsOfScope(process, scope, "Process")) yield { ...subject, roots };
  }
}

// Checks that only one rule uses, by the names that the catalogue has

const MOST_BOUNDARY_EVENTS = 100;
const MOST_INCLUSIVE_FLOWS = 200;
const MOST_COMPENSABLE_ACTIVITIES = 500;

const EVENT_SUB_PROCESS_TRIGGERS = ["conditional", "error", "escalation", "message", "signal", "timer"];
const AWAITED = ["conditional", "message", "signal", "timer"];
const ESCALATION_HOSTS = ["adHocSubProcess", "callActivity", "subProcess", "userTask"];
// By event definition: the attribute that refers to an error, escalation, …, and that element's attribute with its code or name.
const CODES = {
  compensateEventDefinition: ["", ""],
  errorEventDefinition: ["errorRef", "errorCode"],
  escalationEventDefinition: ["escalationRef", "escalationCode"],
  messageEventDefinition: ["messageRef", "name"],
  signalEventDefinition: ["signalRef", "name"],
};
// Event definitions for which a missing name does not match everything.
const NAMED = ["messageEventDefinition", "signalEventDefinition"];

// Each event that catches the same as an earlier one at the same place; `events` has pairs of place and event.
function* repeated({ roots }, events) {
  const seen = new Set();
  for (const [place, event] of events) {
    for (const [kind, [reference, name]] of Object.entries(CODES)) {
      const definition = first(event, kind);
      if (!definition) continue;
      const code = roots.get(attribute(definition, reference))?.attributes.get(name);
      if (code === undefined && NAMED.includes(kind)) continue;
      const key = JSON.stringify([place, kind, code ?? null]);
      const everything = kind === "compensateEventDefinition" ? "compensation" : "every code";
      if (seen.has(key)) yield [`found ${code || everything} again`, event];
      seen.add(key);
    }
  }
}

// Start events with such a definition, each with the id that the definition refers to.
const triggeredStarts = (process, kind, reference) =>
  all(process, "startEvent")
    .map((start) => [start, first(start, kind)?.attributes.get(reference)])
    .filter(([, id]) => id !== undefined);

const targetsOf = ({ id, scope }) => scope.successors(id).map((target) => [target, scope.nodes.get(target)]);

const phasesOf = (element) => {
  if (element.tag === "boundaryEvent" && first(element, "compensateEventDefinition")) return [];
  if (["startEvent", "boundaryEvent"].includes(element.tag)) return ["end"];
  const throwsError = element.tag === "endEvent" && first(element, "errorEventDefinition");
  return element.tag.endsWith("Gateway") || throwsError ? ["start"] : ["start", "end"];
};

function* expressions(subject, ...paths) {
  for (const path of paths) {
    for (const { at, text } of written(subject, path)) {
      if (text.startsWith("=")) yield [LEFT, at];
      else if (text.trim()) yield [`${path} does not start with =, found ${text}`, at];
    }
  }
}

function* pairs(subject, tag) {
  for (const found of elementsAt(subject, tag)) {
    const [collection, element] = ["outputCollection", "outputElement"].map((name) => attribute(found, name).trim() !== "");
    if (collection !== element) yield [`${collection ? "outputElement" : "outputCollection"} is missing or blank`, found];
  }
}

const has = (subject, path) => elementsAt(subject, path).length > 0;

const checks = {
  *"xor-or-conditioned"({ markup, id, scope }) {
    const source = scope.nodes.get(attribute(markup, "sourceRef"));
    if (!["exclusiveGateway", "inclusiveGateway"].includes(source?.tag)) return;
    const gateway = attribute(source, "id");
    const isFree = scope.leaving(gateway).length === 1 || source.attributes.get("default") === id;
    if (!isFree && !first(markup, "conditionExpression")) yield [`found neither behind ${gateway}`];
  },
  *"not both"({ id, scope }) {
    if (scope.entering(id).length > 1 && scope.leaving(id).length > 1) yield ["found several incoming and several outgoing flows"];
  },
  *"phases that happen"(subject) {
    for (const { at, text } of written(subject, "zeebe:executionListener@eventType")) {
      if (text.trim() && !phasesOf(subject.markup).includes(text)) yield [`found ${text}`, at];
    }
  },
  *"native user task"(subject) {
    if (subject.markup.tag === "userTask" && has(subject, "zeebe:userTask")) return;
    for (const at of elementsAt(subject, "zeebe:taskListener")) yield ["found none", at];
  },
  *"service or send task"(subject) {
    if (["serviceTask", "sendTask"].includes(subject.markup.tag) && has(subject, "zeebe:taskDefinition")) return;
    for (const at of elementsAt(subject, "zeebe:linkedResource")) yield ["found none", at];
  },
  *"one form"(subject) {
    const references = ["formId", has(subject, "zeebe:userTask") ? "externalReference" : "formKey"];
    for (const definition of elementsAt(subject, "zeebe:formDefinition")) {
      const found = references.filter((name) => attribute(definition, name).trim());
      if (found.length !== 1) yield [`expected ${references.join(" or ")}, found ${found.join(" and ") || "none"}`, definition];
    }
  },
  *"errors interrupt"({ markup }) {
    const name = markup.tag === "boundaryEvent" ? "cancelActivity" : "isInterrupting";
    if (isFalse(markup, name) && first(markup, "errorEventDefinition")) yield ["found an error that does not"];
  },
  *"one event for an error"(subject) {
    yield* repeated(subject, subject.scope.attached);
  },
  *"one event sub-process for a trigger"(subject) {
    const inside = [...subject.scope.nodes.values()].filter(isEventSubProcess);
    yield* repeated(subject, inside.flatMap((each) => all(each, "startEvent")).map((start) => ["", start]));
  },
  *"one start event for a message"({ markup: file }) {
    const names = new Map(all(file, "message").map(({ attributes }) => [attributes.get("id"), attributes.get("name")]));
    const seen = new Set();
    for (const process of all(file, "process").filter(isExecutable)) {
      for (const [start, reference] of triggeredStarts(process, "messageEventDefinition", "messageRef")) {
        const name = names.get(reference) || reference;
        const places = [["", reference], [attribute(process, "id"), name]].map((place) => JSON.stringify(place));
        if (places.some((place) => seen.has(place))) yield [`found ${name} again`, start];
        for (const place of places) seen.add(place);
      }
    }
  },
  *"one start event for a signal"({ markup, roots }) {
    const seen = new Set();
    for (const [start, reference] of triggeredStarts(markup, "signalEventDefinition", "signalRef")) {
      const name = roots.get(reference)?.attributes.get("name") ?? reference;
      if (seen.has(name)) yield [`found ${name} again`, start];
      seen.add(name);
    }
  },
  *"one start event for a condition"({ markup }) {
    const seen = new Set();
    for (const start of all(markup, "startEvent")) {
      const definition = first(start, "conditionalEventDefinition");
      const condition = definition && first(definition, "condition");
      if (!condition) continue;
      if (seen.has(condition.text)) yield [`found ${condition.text} again`, start];
      seen.add(condition.text);
    }
  },
  *"triggers of event sub-processes"({ markup }) {
    const kinds = kindsOf(markup);
    if (kinds.some((kind) => EVENT_SUB_PROCESS_TRIGGERS.includes(kind))) return;
    yield [`found ${definitionsOf(markup).map(({ tag }) => tag).join(" and ") || "no trigger"}`];
  },
  *"literal codes"({ markup, roots }) {
    const [reference, name] = CODES[markup.tag];
    const code = roots.get(attribute(markup, reference))?.attributes.get(name) ?? "";
    if (code.startsWith("=")) yield [`found ${code}`];
  },
  *"escalations from inside"({ markup, scope }) {
    if (!first(markup, "escalationEventDefinition")) return;
    const host = scope.nodes.get(attribute(markup, "attachedToRef"));
    if (host && !ESCALATION_HOSTS.includes(host.tag)) yield [`found ${host.tag}`];
  },
  *"one catching link for a name"({ scope }) {
    const seen = new Set();
    for (const node of scope.nodes.values()) {
      const name = caughtLinkOf(node);
      if (name === undefined) continue;
      if (seen.has(name)) yield [`found ${name} again`, node];
      seen.add(name);
    }
  },
  *"a catching link"({ markup, scope }) {
    const name = attribute(markup, "name");
    if (!scope.links.has(name)) yield [`found none with the name ${name}`];
  },
  *"events behind the gateway"(subject) {
    for (const [id, node] of targetsOf(subject)) {
      const kinds = kindsOf(node);
      const isAwaited = node.tag === "intermediateCatchEvent" && kinds.every((kind) => AWAITED.includes(kind));
      if (!isAwaited) yield [`found ${[node.tag, ...kinds, id].join(" ")}`];
    }
  },
  *"one event behind the gateway for a message"(subject) {
    yield* repeated(subject, targetsOf(subject).map(([, node]) => ["", node]));
  },
  *"events of the gateway alone"(subject) {
    for (const [id] of targetsOf(subject)) if (subject.scope.entering(id).length > 1) yield [`found several at ${id}`];
  },
  *"few inclusive joins"({ scope }) {
    const gateways = [...scope.nodes].filter(([, { tag }]) => tag === "inclusiveGateway");
    const counts = gateways.map(([id]) => scope.entering(id).length).filter((count) => count > 1);
    const number = counts.reduce((sum, count) => sum + count, 0);
    if (number > MOST_INCLUSIVE_FLOWS) yield [`expected at most ${MOST_INCLUSIVE_FLOWS}, found ${number}`];
  },
  *"another message than its boundary events"({ scope, roots }) {
    const nameOf = (reference) => roots.get(attribute(reference, "messageRef"))?.attributes.get("name");
    for (const [host, event] of scope.attached) {
      const task = scope.nodes.get(host);
      const definition = first(event, "messageEventDefinition");
      if (task?.tag !== "receiveTask" || !definition) continue;
      const name = nameOf(task);
      if (name !== undefined && name === nameOf(definition)) yield [`found ${name} at its boundary`, task];
    }
  },
  *"few boundary events"({ scope }) {
    for (const [host, { length }] of grouped(scope.attached)) {
      const node = scope.nodes.get(host);
      if (length > MOST_BOUNDARY_EVENTS && node) yield [`expected at most ${MOST_BOUNDARY_EVENTS}, found ${length}`, node];
    }
  },
  *"one compensation handler"({ markup, id, scope }) {
    if (!first(markup, "compensateEventDefinition")) return;
    const [handlers, flows] = [scope.handlers.get(id)?.length ?? 0, scope.leaving(id).length];
    if (handlers !== 1 || flows) yield [`found ${handlers} handlers and ${flows} outgoing flows`];
  },
  *"handlers outside the flow"({ id, scope }) {
    const node = scope.nodes.get(id);
    if (!node || !isTrue(node, "isForCompensation")) return;
    if (scope.entering(id).length || scope.leaving(id).length) yield ["found a flow"];
    if (scope.hosts.has(id)) yield ["found a boundary event"];
  },
  *"activities to compensate"({ types, scope }) {
    const inside = [...scope.nodes.values()];
    const ofEventSubProcesses = inside.filter(isEventSubProcess).flatMap((each) => flowElements(each).filter((node) => !isFlow(node)));
    const thrown = [...(types.includes("bpmn:EventSubProcess") ? [] : inside), ...ofEventSubProcesses];
    const compensable = new Set(
      inside.flatMap((node) => {
        if (node.tag === "boundaryEvent" && kindsOf(node).join(" ") === "compensate") return [attribute(node, "attachedToRef")];
        return node.tag === "subProcess" && !isEventSubProcess(node) ? [attribute(node, "id")] : [];
      }),
    );
    for (const node of thrown.filter(isThrown)) {
      const activity = first(node, "compensateEventDefinition")?.attributes.get("activityRef");
      if (activity !== undefined && !compensable.has(activity)) yield [`found ${activity}`, node];
    }
  },
  *"few compensable activities"({ markup }) {
    const isCompensated = (node) => node.tag === "boundaryEvent" && first(node, "compensateEventDefinition");
    const number = descendants(markup).filter(isCompensated).length;
    if (number > MOST_COMPENSABLE_ACTIVITIES) yield [`expected at most ${MOST_COMPENSABLE_ACTIVITIES}, found ${number}`];
  },
  *"expression of an output element"(subject) {
    yield* expressions(subject, "zeebe:loopCharacteristics@outputElement");
  },
  *"expression of a completion condition"(subject) {
    yield* expressions(subject, "completionCondition@text()");
  },
  *"expressions of an ad-hoc sub-process"(subject) {
    yield* expressions(subject, "completionCondition@text()", "zeebe:adHoc@activeElementsCollection", "zeebe:adHoc@outputElement");
  },
  *"output collection with output element"(subject) {
    yield* pairs(subject, "zeebe:loopCharacteristics");
  },
  *"output collection of an ad-hoc sub-process with output element"(subject) {
    yield* pairs(subject, "zeebe:adHoc");
  },
  *"an activity inside"({ scope }) {
    if ([...scope.nodes.values()].every((node) => isEventSubProcess(node) || isEventOrGateway(node))) yield ["found none"];
  },
  *"control by the worker alone"(subject) {
    if (!has(subject, "zeebe:taskDefinition")) return;
    if (isFalse(subject.markup, "cancelRemainingInstances")) yield ["found cancelRemainingInstances=false"];
    for (const path of ["completionCondition@text()", "zeebe:adHoc@activeElementsCollection"]) {
      for (const { at, text } of written(subject, path)) if (text.trim()) yield [`found ${path}`, at];
    }
  },
  *"event sub-processes that do not interrupt"({ markup }) {
    for (const start of all(markup, "subProcess").filter(isEventSubProcess).flatMap((each) => all(each, "startEvent"))) {
      if (isTrue(start, "isInterrupting") || !start.attributes.has("isInterrupting")) yield ["found one that does", start];
    }
  },
  *"kinds of timers"({ markup, id, types, scope }) {
    const event = scope.nodes.get(id);
    if (!event) return;
    const isStart = types.includes("bpmn:TimerEventDefinition[start]");
    const name = { boundaryEvent: "cancelActivity", startEvent: "isInterrupting" }[event.tag] ?? "";
    const again = isFalse(event, name) ? ["timeCycle"] : [];
    const allowed = isStart ? ["timeDate", "timeCycle"] : ["timeDate", "timeDuration", ...again];
    for (const child of markup.children) {
      if (!["timeDate", "timeDuration", "timeCycle"].includes(child.tag) || allowed.includes(child.tag)) continue;
      yield [`found ${child.tag} at ${isStart ? "the start of a process" : `a ${event.tag} that fires once`}`, child];
    }
  },
};

export const models = { family: "bpmn", read, subjects, checks, hasSubjects: () => true };
