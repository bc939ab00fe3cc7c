// The editor of forms: form-js with its palette and properties.

// Texts of a form may be markup.
export const hasStyledMarkup = false;

const empty = () =>
  JSON.stringify({
    id: `form-${crypto.randomUUID().slice(0, 7)}`,
    type: "default",
    components: [],
    executionPlatform: "Camunda Cloud",
    executionPlatformVersion: "8.9.0",
  });

// The editor asks for the translation of few texts, so those of its own interface are replaced where they appear.
const OWN = ".fjs-palette-container, .fjs-empty-component, .fjs-empty-editor, .fjs-context-pad, .fjs-properties-container";
// What a person wrote.
const OTHERS = "textarea, [contenteditable], .cm-editor, .bio-properties-panel-header-label, .bio-properties-panel-collapsible-entry-header-title";
const NAMES = ["title", "placeholder", "aria-label"];
const translator = (translations) => {
  const replaced = (text) => (Object.hasOwn(translations, text.trim()) ? text.replace(text.trim(), () => translations[text.trim()]) : text);
  const isOwn = (element) => element?.closest(OWN) && !element.closest(OTHERS);
  const text = (node) => {
    const words = isOwn(node.parentElement) ? replaced(node.data) : node.data;
    if (words !== node.data) node.data = words;
  };
  // The name of a field of code is the editor's own, and its text is not.
  const attributes = (element) => {
    if (!isOwn(element) && !element.matches("[role=textbox]")) return;
    for (const name of NAMES.filter((each) => element.hasAttribute(each))) {
      const words = replaced(element.getAttribute(name));
      if (words !== element.getAttribute(name)) element.setAttribute(name, words);
    }
  };
  const all = (node) => {
    if (node.nodeType === Node.TEXT_NODE) text(node);
    if (node.nodeType !== Node.ELEMENT_NODE) return;
    const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) text(texts.currentNode);
    [node, ...node.querySelectorAll(NAMES.map((name) => `[${name}]`).join())].forEach(attributes);
  };
  return (changes) => {
    for (const { type, target, addedNodes } of changes) {
      if (type === "childList") addedNodes.forEach(all);
      else if (type === "attributes") attributes(target);
      else text(target);
    }
  };
};

// A field of code has a name of its own. The label before it, which has a button in it, can be no label of such a field.
// Fields of the drawing name descriptions that are there only when they have a text.
const describe = (drawing, properties) => {
  for (const field of drawing.querySelectorAll("[aria-describedby]")) {
    if (field.getAttribute("aria-describedby").split(" ").some((id) => !document.getElementById(id))) field.removeAttribute("aria-describedby");
  }
  for (const { id } of properties.querySelectorAll("[role=textbox][id]")) properties.querySelector(`label[for="${CSS.escape(id)}"]`)?.removeAttribute("for");
};

export const editorOf = (drawing, properties, { translations }) => {
  if (Object.keys(translations).length > 0) {
    const watch = { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: NAMES };
    const observer = new MutationObserver(translator(translations));
    for (const part of [drawing, properties]) observer.observe(part, watch);
  }
  const described = new MutationObserver(() => {
    describe(drawing, properties);
  });
  for (const part of [drawing, properties]) described.observe(part, { childList: true, subtree: true });
  const editor = new globalThis.FormEditor.FormEditor({ container: drawing, propertiesPanel: { parent: properties } });
  const get = (name) => editor.get(name);
  const fields = () => get("formFieldRegistry").getAll();
  const fieldOf = (id) => fields().find((each) => each.id === id || each.key === id);
  const worded = ({ id, key, label, type }) => `${label || key || id} (${type})`;
  const act = (name) => get("commandStack")[`can${name}`]() && get("commandStack")[name.toLowerCase()]();

  return {
    empty,
    mark: () => {},
    open: async (text) => {
      await editor.importSchema(JSON.parse(text));
    },
    text: async () => JSON.stringify(editor.saveSchema(), null, 2),
    id: () => editor.saveSchema().id,
    elements: () => fields().map((each) => ({ id: each.id, name: worded(each) })),
    nameOf: (id) => fieldOf(id) && worded(fieldOf(id)),
    select: (id) => fieldOf(id) && get("selection").set(fieldOf(id)),
    undo: () => act("Undo"),
    redo: () => act("Redo"),
    onChange: (changed) =>
      editor.on("changed", () => {
        changed();
      }),
    onSelect: (chosen) =>
      editor.on("selection.changed", ({ selection }) => {
        chosen(selection?.id ?? "");
      }),
  };
};
