// Elements of a model as the server reads them, whatever prefixes a file uses: tag, attributes, children and text.

// What a check yields in place of a violation for an element that the server decides.
export const LEFT = Symbol("left to the server");

// `spelling` gives the prefix of tags by namespace; other elements are left out. `defaults` are attributes that a file may
// leave out.
const spelled = (element, spelling, defaults) => {
  const prefix = spelling.get(element.namespaceURI);
  if (prefix === undefined) return undefined;
  let text = "";
  for (let node = element.firstChild; node && node.nodeType !== Node.ELEMENT_NODE; node = node.nextSibling) {
    if (node instanceof Text) text += node.data;
  }
  const tag = prefix + element.localName;
  const attributes = new Map(Object.hasOwn(defaults, tag) ? defaults[tag] : []);
  for (const { namespaceURI, name, value } of element.attributes) if (!namespaceURI) attributes.set(name, value);
  const children = [];
  for (let child = element.firstElementChild; child; child = child.nextElementSibling) {
    const made = spelled(child, spelling, defaults);
    if (made) children.push(made);
  }
  return { tag, attributes, children, text: text.trim() };
};

// The root of a file, undefined for one that is no XML or of another namespace. `spellingOf` takes that of the root.
export const markupOf = (text, spellingOf, defaults = {}) => {
  const { documentElement: root } = new DOMParser().parseFromString(text, "text/xml");
  const spelling = !root.getElementsByTagName("parsererror").length && spellingOf(root.namespaceURI);
  return spelling ? spelled(root, spelling, defaults) : undefined;
};

export const all = ({ children }, tag) => children.filter((child) => child.tag === tag);
export const first = ({ children }, tag) => children.find((child) => child.tag === tag);
export const attribute = ({ attributes }, name) => attributes.get(name) ?? "";
export const isTrue = (markup, name) => ["true", "1"].includes(attribute(markup, name).trim());
export const isFalse = (markup, name) => ["false", "0"].includes(attribute(markup, name).trim());
export const upper = (tag) => tag.slice(0, 1).toUpperCase() + tag.slice(1);
export const without = (text, ending) => (text.endsWith(ending) ? text.slice(0, -ending.length) : text);

export const descendants = ({ children }) => {
  const found = [];
  const collect = (each) => {
    found.push(each);
    each.children.forEach(collect);
  };
  children.forEach(collect);
  return found;
};
