// The editor of processes: bpmn-js with the properties of Camunda's extension elements.

// Text of models is never markup in this editor.
export const hasStyledMarkup = true;

const random = () => crypto.randomUUID().slice(0, 7);

const empty = () => {
  const [process, start] = [`process-${random()}`, `start-${random()}`];
  return `<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:bpmndi="http://www.omg.org/spec/BPMN/20100524/DI" xmlns:dc="http://www.omg.org/spec/DD/20100524/DC" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" xmlns:modeler="http://camunda.org/schema/modeler/1.0" id="definitions-${random()}" targetNamespace="http://bpmn.io/schema/bpmn" modeler:executionPlatform="Camunda Cloud" modeler:executionPlatformVersion="8.9.0">
  <bpmn:process id="${process}" isExecutable="true">
    <bpmn:startEvent id="${start}" />
  </bpmn:process>
  <bpmndi:BPMNDiagram id="diagram">
    <bpmndi:BPMNPlane id="plane" bpmnElement="${process}">
      <bpmndi:BPMNShape id="shape" bpmnElement="${start}"><dc:Bounds x="180" y="160" width="36" height="36" /></bpmndi:BPMNShape>
    </bpmndi:BPMNPlane>
  </bpmndi:BPMNDiagram>
</bpmn:definitions>
`;
};

// The editor reads descriptions and tooltips of fields as markup; here they are text.
const text = (value) => (typeof value === "string" ? value.replaceAll("&", "&amp;").replaceAll("<", "&lt;") : value);
const plainPart = (part) => {
  const words = ["description", "tooltip"].filter((name) => part?.[name] !== undefined);
  return words.length ? { ...part, ...Object.fromEntries(words.map((name) => [name, text(part[name])])) } : part;
};
const plain = (template) => {
  const lists = ["properties", "groups"].filter((name) => Array.isArray(template?.[name]));
  return { ...template, ...Object.fromEntries(lists.map((name) => [name, template[name].map(plainPart)])) };
};

export const editorOf = (drawing, properties, { translate }) => {
  const additionalModules = [{ translate: ["value", translate] }];
  const modeler = new globalThis.BpmnModeler({
    container: drawing,
    propertiesPanel: { parent: properties },
    additionalModules,
    // The text of a model is read to check it, which must not move its elements.
    alignToOrigin: { alignOnSave: false },
  });
  const get = (name) => modeler.get(name);
  const registry = () => get("elementRegistry");
  const worded = ({ businessObject: { id, name, $type } }) => `${name || id} (${$type.replace(/^bpmn:/, "")})`;
  const marked = new Set();
  let refused = [];
  modeler.on("elementTemplates.errors", ({ errors }) => (refused = errors.map(({ message }) => message)));

  const mark = (findings) => {
    for (const id of marked) {
      for (const marker of ["finding-error", "finding-warning"]) if (registry().get(id)) get("canvas").removeMarker(id, marker);
    }
    marked.clear();
    get("overlays").remove({ type: "finding" });
    for (const [id, found] of Object.entries(Object.groupBy(findings, ({ elementId }) => elementId))) {
      const element = registry().get(id);
      if (!element || element === get("canvas").getRootElement()) continue;
      const isError = found.some(({ severity }) => severity === "error");
      get("canvas").addMarker(id, isError ? "finding-error" : "finding-warning");
      marked.add(id);
      const html = document.createElement("div");
      html.className = isError ? "finding error" : "finding";
      html.textContent = "!";
      html.title = found.map(({ message }) => message).join("\n");
      get("overlays").add(id, "finding", { position: { top: -12, right: 12 }, html });
    }
  };

  return {
    empty,
    mark,
    // Returns what is wrong with templates; the others can be chosen.
    setTemplates: (templates) => {
      refused = [];
      get("elementTemplatesLoader").setTemplates(templates.map(plain));
      return refused;
    },
    open: async (text) => {
      await modeler.importXML(text);
      get("canvas").zoom("fit-viewport", "auto");
    },
    text: async () => (await modeler.saveXML({ format: true })).xml,
    id: () => get("canvas").getRootElement().businessObject.id,
    elements: () => registry().filter(({ businessObject, labelTarget }) => businessObject?.id && !labelTarget).map((each) => ({ id: each.id, name: worded(each) })),
    nameOf: (id) => registry().get(id) && worded(registry().get(id)),
    select: (id) => {
      const element = registry().get(id);
      if (!element) return;
      get("selection").select(element);
      if (element !== get("canvas").getRootElement()) get("canvas").scrollToElement(element);
    },
    undo: () => get("commandStack").canUndo() && get("commandStack").undo(),
    redo: () => get("commandStack").canRedo() && get("commandStack").redo(),
    onChange: (act) => modeler.on("commandStack.changed", act),
    // A listener that returns a value ends the event.
    onSelect: (act) =>
      modeler.on("selection.changed", ({ newSelection }) => {
        act(newSelection.length === 1 ? newSelection[0].id : "");
      }),
  };
};
