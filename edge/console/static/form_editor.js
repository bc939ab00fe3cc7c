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

export const editorOf = (drawing, properties) => {
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
