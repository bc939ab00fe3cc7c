// The editor of decisions: dmn-js with its requirements graph, decision tables and expressions.

// Text of models is never markup in this editor.
export const hasStyledMarkup = true;

const random = () => crypto.randomUUID().slice(0, 7);

const empty = () => {
  const decision = `decision-${random()}`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" xmlns:dmndi="https://www.omg.org/spec/DMN/20191111/DMNDI/" xmlns:dc="http://www.omg.org/spec/DMN/20180521/DC/" xmlns:modeler="http://camunda.org/schema/modeler/1.0" id="definitions-${random()}" name="Decisions" namespace="http://camunda.org/schema/1.0/dmn" modeler:executionPlatform="Camunda Cloud" modeler:executionPlatformVersion="8.9.0">
  <decision id="${decision}" name="Decision">
    <decisionTable id="table-${random()}">
      <input id="input-${random()}" label="Input"><inputExpression id="expression-${random()}" typeRef="string"><text>input</text></inputExpression></input>
      <output id="output-${random()}" label="Output" name="output" typeRef="string" />
    </decisionTable>
  </decision>
  <dmndi:DMNDI>
    <dmndi:DMNDiagram>
      <dmndi:DMNShape dmnElementRef="${decision}"><dc:Bounds height="80" width="180" x="200" y="180" /></dmndi:DMNShape>
    </dmndi:DMNDiagram>
  </dmndi:DMNDI>
</definitions>
`;
};

const parts = (element) =>
  element.$descriptor.properties
    .filter(({ isReference, isVirtual }) => !isReference && !isVirtual)
    .flatMap(({ name }) => element.get(name))
    .filter((each) => each?.$descriptor);
const contains = (element, id) => element.id === id || parts(element).some((each) => contains(each, id));

export const editorOf = (drawing, properties, { translate }) => {
  const additionalModules = [{ translate: ["value", translate] }];
  const modeler = new globalThis.DmnModeler({
    container: drawing,
    drd: { propertiesPanel: { parent: properties }, additionalModules },
    decisionTable: { additionalModules },
    literalExpression: { additionalModules },
    boxedExpression: { additionalModules },
  });
  const worded = ({ id, name, $type }) => `${name || id} (${$type.replace(/^dmn:/, "")})`;
  const views = () => modeler.getViews();
  const viewOf = (id) =>
    views().find(({ element }) => element.id === id) ??
    views().find(({ type, element }) => type !== "drd" && contains(element, id)) ??
    views().find(({ element }) => contains(element, id));
  const stack = () => modeler.getActiveViewer().get("commandStack");
  let findings = [];

  // The requirements graph alone has shapes to mark.
  const mark = () => {
    if (modeler.getActiveView()?.type !== "drd") return;
    const viewer = modeler.getActiveViewer();
    const overlays = viewer.get("overlays");
    overlays.remove({ type: "finding" });
    const byShape = Object.groupBy(findings, ({ elementId }) => (elementId && viewOf(elementId)?.element.id) || "");
    for (const [id, found] of Object.entries(byShape)) {
      const shape = viewer.get("elementRegistry").get(id);
      if (!shape?.width) continue;
      const html = document.createElement("div");
      html.className = found.some(({ severity }) => severity === "error") ? "finding error" : "finding";
      html.textContent = "!";
      html.title = found.map(({ message }) => message).join("\n");
      overlays.add(id, "finding", { position: { top: -12, right: 12 }, html });
    }
  };
  const arrange = ({ activeView }) => {
    drawing.parentElement.classList.toggle("alone", activeView?.type !== "drd");
    mark();
  };

  modeler.on("views.changed", arrange);

  // What tables lack for screen readers.
  const describe = () => {
    for (const each of drawing.querySelectorAll(".index-column:not([role])")) each.setAttribute("role", "presentation");
    for (const each of drawing.querySelectorAll("div.dms-input[aria-label]:not([role])")) each.setAttribute("role", "combobox");
    for (const each of drawing.querySelectorAll("div.dms-input[role=combobox]:not([aria-expanded])")) each.setAttribute("aria-expanded", "false");
  };
  new MutationObserver(describe).observe(drawing, { childList: true, subtree: true });

  return {
    empty,
    mark: (found) => {
      findings = found;
      mark();
    },
    open: async (text) => {
      await modeler.importXML(text);
      arrange({ activeView: modeler.getActiveView() });
    },
    text: async () => (await modeler.saveXML({ format: true })).xml,
    id: () => modeler.getDefinitions()?.id,
    elements: () => views().map(({ element }) => ({ id: element.id, name: worded(element) })),
    nameOf: (id) => {
      const view = viewOf(id);
      return view && worded(view.element);
    },
    select: (id) => {
      const view = viewOf(id);
      if (view && view.element !== modeler.getActiveView()?.element) modeler.open(view);
    },
    undo: () => stack().canUndo() && stack().undo(),
    redo: () => stack().canRedo() && stack().redo(),
    // Each view has a viewer of its own, made when it is first opened.
    onChange: (act) => {
      const watched = new WeakSet();
      const watch = () => {
        const viewer = modeler.getActiveViewer();
        if (!viewer || watched.has(viewer)) return;
        watched.add(viewer);
        viewer.on("commandStack.changed", act);
      };
      watch();
      modeler.on("views.changed", watch);
    },
    onSelect: (act) => {
      const tell = () => {
        act(modeler.getActiveView()?.element.id ?? "");
      };
      tell();
      modeler.on("views.changed", tell);
    },
  };
};
