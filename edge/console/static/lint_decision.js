// Decisions for the linter: subjects of rules, and checks that only one rule uses.

import { all, attribute, descendants, first, markupOf, upper } from "markup";

const NAMESPACES = new Set([
  "http://www.omg.org/spec/DMN/20151101/dmn.xsd",
  "http://www.omg.org/spec/DMN/20151101/dmn11.xsd",
  "http://www.omg.org/spec/DMN/20180521/MODEL/",
  "https://www.omg.org/spec/DMN/20191111/MODEL/",
  "https://www.omg.org/spec/DMN/20211108/MODEL/",
  "https://www.omg.org/spec/DMN/20230324/MODEL/",
  "https://www.omg.org/spec/DMN/20240513/MODEL/",
]);
const ZEEBE = ["http://camunda.org/schema/zeebe/1.0", "zeebe:"];
const TYPES = new Set(
  "Decision DecisionTable DefaultOutputEntry Input InputExpression LiteralExpression Output OutputEntry Relation Rule".split(" "),
);
const VARIANTS = ["dmn:DecisionTable[aggregation]", "dmn:DecisionTable[outputs]"];

const read = (text) => {
  const file = markupOf(text, (namespace) => NAMESPACES.has(namespace) && new Map([[namespace, ""], ZEEBE]));
  return file?.tag === "definitions" ? file : undefined;
};

const typesOf = (markup) => {
  const found = [`dmn:${upper(markup.tag)}`];
  if (markup.tag !== "decisionTable") return found;
  const varies = [markup.attributes.has("aggregation"), all(markup, "output").length > 1];
  return [...found, ...VARIANTS.filter((_, place) => varies[place])];
};

function* subjects(file) {
  for (const markup of [file, ...descendants(file)]) {
    if (markup === file || TYPES.has(upper(markup.tag))) yield { markup, id: attribute(markup, "id"), types: typesOf(markup) };
  }
}

// Checks by the names that the catalogue has

const MOST_COMPARED_RULES = 300;
const ANYTHING = ["", "-"];
const BESIDE_CELLS = ["description", "extensionElements", "typeRef"];

const hitPolicyOf = (table) => (table.attributes.get("hitPolicy") ?? "UNIQUE").split(/\s+/).filter(Boolean).join(" ");
const textOf = (element) => (element && first(element, "text")?.text) ?? "";

const areAlike = (one, other) =>
  one.every((text, place) => ANYTHING.includes(text) || place >= other.length || text === other[place] || ANYTHING.includes(other[place]));

const checks = {
  *"an entry for each column"({ markup: table }) {
    const [inputs, outputs] = ["input", "output"].map((tag) => all(table, tag).length);
    for (const rule of all(table, "rule")) {
      const [found, results] = ["inputEntry", "outputEntry"].map((tag) => all(rule, tag).length);
      if (found !== inputs || results !== outputs) {
        yield [`expected ${inputs} input and ${outputs} output entries, found ${found} and ${results}`, rule];
      }
    }
  },
  *"a cell for each column"({ markup: relation }) {
    const columns = all(relation, "column").length;
    for (const row of all(relation, "row")) {
      const cells = row.children.filter(({ tag }) => !BESIDE_CELLS.includes(tag)).length;
      if (cells !== columns) yield [`expected ${columns} cells, found ${cells}`, row];
    }
  },
  *"output values where they order"({ markup: table }) {
    if (!["PRIORITY", "OUTPUT ORDER"].includes(hitPolicyOf(table))) return;
    for (const output of all(table, "output")) if (!textOf(first(output, "outputValues"))) yield ["found no outputValues", output];
  },
  *"no two rules for the same input"({ markup: table }) {
    if (hitPolicyOf(table) !== "UNIQUE" || !first(table, "input")) return;
    const rules = all(table, "rule").slice(0, MOST_COMPARED_RULES);
    const entries = rules.map((rule) => all(rule, "inputEntry").map(textOf));
    for (const [place, one] of entries.entries()) {
      for (let later = place + 1; later < entries.length; later += 1) {
        if (areAlike(one, entries[later])) yield [`rule ${later + 1} matches what rule ${place + 1} matches`, rules[later]];
      }
    }
  },
};

const hasSubjects = (type) => type === "dmn:Definitions" || VARIANTS.includes(type) || TYPES.has(type.slice("dmn:".length));

export const models = { family: "dmn", read, subjects, checks, hasSubjects };
