// Forms for the linter: the form and its components become markup, as on the server.

import { attribute, descendants } from "markup";

const MOST_COMPONENTS = 2000;
const MOST_LEVELS = 64;
// Members of a component whose own members are values of the component.
const GROUPS = ["conditional", "validate"];

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value) => (typeof value === "string" && value.trim() ? value : "");
const valuesOf = (members, prefix = "") =>
  Object.entries(members)
    .filter(([, value]) => ["string", "number", "boolean"].includes(typeof value))
    .map(([name, value]) => [prefix + name, String(value)]);
const attributesOf = (component) =>
  new Map([...valuesOf(component), ...GROUPS.filter((name) => isObject(component[name])).flatMap((name) => valuesOf(component[name], `${name}.`))]);

// A component's `key` is the full path of its value.
const componentsOf = (parent, path) => {
  const components = Array.isArray(parent.components) ? parent.components.filter(isObject) : [];
  return components.map((component) => {
    const attributes = attributesOf(component);
    if (attributes.get("key")) attributes.set("key", [path, attributes.get("key")].filter(Boolean).join("."));
    const tag = attributes.get("type") ?? "";
    attributes.delete("type");
    const inside = [path, textOf(component.path)].filter(Boolean).join(".");
    return { tag, attributes, children: componentsOf(component, inside), text: "" };
  });
};

const isShallow = (document) => {
  let level = [document];
  for (let depth = 0; depth < MOST_LEVELS; depth += 1) {
    level = level.flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value) : []));
    if (!level.length) return true;
  }
  return false;
};

const documentOf = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const read = (text) => {
  const document = documentOf(text);
  if (!isObject(document) || !isShallow(document)) return undefined;
  const attributes = attributesOf(document);
  attributes.set("id", textOf(document.id)).set("versionTag", textOf(document.versionTag));
  const form = { tag: "form", attributes, children: componentsOf(document, ""), text: "" };
  return descendants(form).length > MOST_COMPONENTS ? undefined : form;
};

function* subjects(form) {
  yield { markup: form, id: attribute(form, "id"), types: ["form:Form"] };
  for (const markup of descendants(form)) yield { markup, id: attribute(markup, "id"), types: ["form:Component"] };
}

export const models = { family: "form", read, subjects, checks: {}, hasSubjects: (type) => ["form:Form", "form:Component"].includes(type) };
