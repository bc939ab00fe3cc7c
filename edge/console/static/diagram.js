// The diagram of a process: numbers of tokens on its elements, and the path that an instance took.

const figure = document.getElementById("model");
const canvas = figure.querySelector(".canvas");
const words = figure.dataset;
const shown = (name) => figure.querySelector(`[data-when="${name}"]`);

// A wheel without Ctrl scrolls the page, as it does everywhere else.
canvas.addEventListener("wheel", (event) => event.ctrlKey || event.metaKey || event.stopPropagation(), true);

const viewer = new globalThis.BpmnJS({
  container: canvas,
  bpmnRenderer: {
    defaultFillColor: "var(--paper)",
    defaultStrokeColor: "var(--ink)",
    defaultLabelColor: "var(--ink)",
  },
});

// A file may have the diagrams of several processes.
const diagramOf = (definitions, process) =>
  definitions.diagrams.find(({ plane }) => {
    const drawn = plane?.bpmnElement;
    return drawn?.id === process || drawn?.participants?.some(({ processRef }) => processRef?.id === process);
  });

const badge = (kind, count, word) => {
  const part = document.createElement("span");
  part.className = kind;
  part.textContent = count;
  const unseen = document.createElement("span");
  unseen.className = "unseen";
  unseen.textContent = ` ${word} `;
  part.append(unseen);
  return part;
};

const tokens = (name, { elementId, active, incidents, completed }) => {
  const node = document.createElement(words.instances ? "a" : "div");
  if (words.instances) node.href = words.instances + encodeURIComponent(elementId);
  node.className = "tokens";
  node.title = name;
  if (active) node.append(badge("active", active, words.active));
  if (incidents) node.append(badge("stuck", incidents, words.incidents));
  if (completed && !active && !incidents) node.append(badge("completed", completed, words.completed));
  return node;
};

// A label below an element would be hidden by numbers there.
const corner = ({ y, labels }) => (labels.some((label) => label.y > y) ? { top: -14, left: -10 } : { bottom: 12, left: -6 });

const marked = new Map();
const mark = (id, marker) => {
  viewer.get("canvas").addMarker(id, marker);
  marked.set(`${id} ${marker}`, [id, marker]);
};

const draw = ({ elements, flows }) => {
  const [overlays, registry] = [viewer.get("overlays"), viewer.get("elementRegistry")];
  overlays.remove({ type: "tokens" });
  for (const [id, marker] of marked.values()) viewer.get("canvas").removeMarker(id, marker);
  marked.clear();
  for (const flow of flows) if (registry.get(flow)) mark(flow, "taken");
  for (const each of elements) {
    const element = registry.get(each.elementId);
    if (!element) continue;
    if (flows.length && each.completed) mark(each.elementId, "passed");
    if (each.active) mark(each.elementId, "running");
    if (each.incidents) mark(each.elementId, "incident");
    const html = tokens(element.businessObject.name ?? each.elementId, each);
    if (html.childElementCount) overlays.add(each.elementId, "tokens", { position: corner(element), html });
  }
};

// An element and its row in the table belong together.
const choose = (id) => {
  for (const row of document.querySelectorAll("[data-element]")) row.classList.toggle("chosen", row.dataset.element === id);
};
const pointed = ({ target }) => target.closest?.("[data-element]")?.dataset.element;
const point = (event, act) => {
  const id = pointed(event);
  if (id && viewer.get("elementRegistry").get(id)) viewer.get("canvas")[act](id, "pointed");
};

// Names of elements for fields that ask for one.
const isFlowNode = ({ businessObject: node, labelTarget }) => !labelTarget && node?.$instanceOf?.("bpmn:FlowNode");

// A click on an element answers the field that was used last. Without one, the tokens of an active element are to be
// moved, and another element is to be activated.
let asked;
document.addEventListener("focusin", ({ target }) => {
  if (target.matches("[list=flow-nodes]")) asked = target;
});
const enter = (element) => {
  if (!isFlowNode(element)) return;
  const own = document.querySelector(`[data-element="${CSS.escape(element.id)}"] [name=target]`);
  if (!asked && own) return own.focus();
  const field = asked ?? [...document.querySelectorAll("[name=element][list=flow-nodes]")].find(({ value }) => !value);
  if (!field) return;
  field.value = element.id;
  const action = field.closest("tr")?.querySelector("[name=action]");
  if (action && !action.value) action.value = "move";
  asked = undefined;
};

const suggest = () => {
  const list = document.getElementById("flow-nodes");
  if (!list) return;
  const nodes = viewer.get("elementRegistry").filter(isFlowNode);
  list.replaceChildren(
    ...nodes.map(({ businessObject: { id, name } }) => {
      const option = document.createElement("option");
      option.value = id;
      option.label = name ? `${name} (${id})` : id;
      return option;
    }),
  );
};

const SMALLEST = 0.6;
const zoom = { in: () => viewer.get("zoomScroll").stepZoom(1), out: () => viewer.get("zoomScroll").stepZoom(-1), fit: () => fit() };
// Where somebody moved the diagram, it stays when its window changes.
let fitted = "";
const position = () => {
  const { x, y, scale } = viewer.get("canvas").viewbox();
  return [x, y, scale].join();
};
const resize = () => {
  const isMoved = position() !== fitted;
  viewer.get("canvas").resized();
  if (!isMoved) fit();
};
// In a narrow window a whole process is too small to read: it is shown larger, around what happens in it.
const fit = () => {
  center();
  fitted = position();
};
const center = () => {
  const canvas = viewer.get("canvas");
  if (canvas.zoom("fit-viewport", "auto") >= SMALLEST) return;
  const [id] = [...marked.values()].find(([, marker]) => marker === "incident" || marker === "running") ?? [];
  canvas.zoom(SMALLEST);
  const element = id ? viewer.get("elementRegistry").get(id) : viewer.get("elementRegistry").find((each) => each.type === "bpmn:StartEvent");
  if (element) canvas.scrollToElement(element, 40);
};

// A finger moves the diagram sideways, and the page up and down.
const slide = (event) => {
  if (event.pointerType !== "touch" || !event.isPrimary) return;
  const move = ({ movementX, pointerId }) => pointerId === event.pointerId && viewer.get("canvas").scroll({ dx: movementX, dy: 0 });
  const end = ({ pointerId }) => {
    if (pointerId !== event.pointerId) return;
    canvas.removeEventListener("pointermove", move);
    for (const kind of ["pointerup", "pointercancel"]) canvas.removeEventListener(kind, end);
  };
  canvas.addEventListener("pointermove", move);
  for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, end);
};

const open = async () => {
  const response = await fetch(words.model, { redirect: "manual" });
  if (!response.ok) throw new Error(`status ${response.status}`);
  const xml = await response.text();
  canvas.hidden = false;
  await viewer.importXML(xml);
  const diagram = diagramOf(viewer.getDefinitions(), words.process);
  if (diagram) await viewer.open(diagram);
  draw(JSON.parse(document.getElementById("state").textContent));
  fit();
  suggest();
};

try {
  await open();
  shown("waiting").hidden = true;
  figure.querySelector(".zoom").hidden = false;
  figure.querySelector("figcaption").hidden = false;
  canvas.addEventListener("pointerdown", slide);
  new ResizeObserver(resize).observe(canvas);
  figure.addEventListener("click", ({ target }) => zoom[target.dataset.zoom]?.());
  viewer.get("eventBus").on("element.click", ({ element }) => {
    choose(element.id);
    enter(element);
  });
  document.addEventListener("live", ({ detail }) => draw(detail));
  for (const [kind, act] of [["mouseover", "addMarker"], ["focusin", "addMarker"], ["mouseout", "removeMarker"], ["focusout", "removeMarker"]])
    document.addEventListener(kind, (event) => point(event, act));
  figure.dataset.drawn = "";
} catch {
  canvas.hidden = true;
  shown("waiting").hidden = true;
  shown("failed").hidden = false;
}
