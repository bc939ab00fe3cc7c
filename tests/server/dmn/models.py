"""Small models as XML, written in Python."""

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape, quoteattr

from server.dmn import DecisionEvaluation, Decisions, compile_definitions
from server.dmn.document import NAMESPACES
from server.feel import DialectName, Value

DMN_1_5 = next(namespace for namespace, version in NAMESPACES.items() if version == "1.5")


def definitions(*parts: str, namespace: str = "urn:model", dmn: str = DMN_1_5, more: str = "") -> bytes:
    return f'<definitions xmlns="{dmn}" id="model" name="model" namespace="{namespace}" {more}>{"".join(parts)}</definitions>'.encode()


def decision(
    name: str,
    logic: str = "",
    *,
    requires: Sequence[str] = (),
    inputs: Sequence[str] = (),
    knowledge: Sequence[str] = (),
    type_ref: str | None = None,
) -> str:
    """A decision whose id is its name without spaces."""
    return (
        f"<decision {identity(name)}>{variable(name, type_ref)}"
        + "".join(map(_required_decision, requires))
        + "".join(map(_required_input, inputs))
        + "".join(map(required_knowledge, knowledge))
        + f"{logic}</decision>"
    )


def input_data(name: str, type_ref: str | None = None) -> str:
    return f"<inputData {identity(name)}>{variable(name, type_ref)}</inputData>"


def knowledge_model(
    name: str,
    parameters: Sequence[str],
    body: str,
    *,
    knowledge: Sequence[str] = (),
    type_ref: str | None = None,
) -> str:
    """Parameters are `name` or `name:type`."""
    return (
        f"<businessKnowledgeModel {identity(name)}>{variable(name, type_ref)}<encapsulatedLogic>"
        f"{formal_parameters(parameters)}{body}</encapsulatedLogic>"
        + "".join(map(required_knowledge, knowledge))
        + "</businessKnowledgeModel>"
    )


def service(
    name: str, outputs: Sequence[str], *, input_decisions: Sequence[str] = (), input_data: Sequence[str] = ()
) -> str:
    references = (
        ("outputDecision", outputs),
        ("inputDecision", input_decisions),
        ("inputData", input_data),
    )
    inside = "".join(f'<{tag} href="{_href(each)}"/>' for tag, names in references for each in names)
    return f"<decisionService {identity(name)}>{variable(name)}{inside}</decisionService>"


def literal(text: str, type_ref: str | None = None) -> str:
    return f"<literalExpression{_type(type_ref)}>{_text(text)}</literalExpression>"


def context(*entries: tuple[str, str]) -> str:
    """Entries of name and logic; one without a name is the result."""
    inside = "".join(
        f"<contextEntry>{variable(name) if name else ''}{logic}</contextEntry>" for name, logic in entries
    )
    return f"<context>{inside}</context>"


def invocation(function: str, **bindings: str) -> str:
    inside = "".join(
        f"<binding><parameter name={quoteattr(name)}/>{literal(text)}</binding>"
        for name, text in bindings.items()
    )
    return f"<invocation>{literal(function)}{inside}</invocation>"


def function(parameters: Sequence[str], body: str, kind: str = "FEEL") -> str:
    return f'<functionDefinition kind="{kind}">{formal_parameters(parameters)}{body}</functionDefinition>'


def table(
    inputs: Sequence[str],
    outputs: Sequence[str],
    *rules: Sequence[str],
    hit_policy: str = "UNIQUE",
    aggregation: str | None = None,
    default: Sequence[str] = (),
    output_values: Sequence[str] = (),
    input_values: Sequence[str] = (),
) -> str:
    """Rules are the texts of their input entries and then of their output entries."""
    aggregated = f' aggregation="{aggregation}"' if aggregation else ""
    clauses = "".join(
        f'<input id="input{number}"><inputExpression>{_text(text)}</inputExpression>{_values("inputValues", input_values, number)}</input>'
        for number, text in enumerate(inputs)
    ) + "".join(
        f'<output id="output{number}" name={quoteattr(name)}>{_values("outputValues", output_values, number)}'
        f"{_values('defaultOutputEntry', default, number)}</output>"
        for number, name in enumerate(outputs)
    )
    body = "".join(_rule(number, entries, len(inputs)) for number, entries in enumerate(rules, 1))
    return f'<decisionTable hitPolicy="{hit_policy}"{aggregated}>{clauses}{body}</decisionTable>'


def item_definition(
    name: str, inside: str = "", *, type_ref: str = "", allowed: str = "", is_collection: bool = False
) -> str:
    """`inside` are components, written by `component`."""
    reference = f"<typeRef>{escape(type_ref)}</typeRef>" if type_ref else ""
    values = f"<allowedValues>{_text(allowed)}</allowedValues>" if allowed else ""
    collection = ' isCollection="true"' if is_collection else ""
    return f"<itemDefinition name={quoteattr(name)}{collection}>{reference}{inside}{values}</itemDefinition>"


def component(name: str, type_ref: str) -> str:
    return f"<itemComponent name={quoteattr(name)}><typeRef>{type_ref}</typeRef></itemComponent>"


def variable(name: str, type_ref: str | None = None) -> str:
    return f"<variable name={quoteattr(name)}{_type(type_ref)}/>"


def identity(name: str) -> str:
    return f"id={quoteattr(id_of(name))} name={quoteattr(name)}"


def id_of(name: str) -> str:
    return name.replace(" ", "")


def required_knowledge(name: str) -> str:
    return f'<knowledgeRequirement><requiredKnowledge href="{_href(name)}"/></knowledgeRequirement>'


def formal_parameters(parameters: Iterable[str]) -> str:
    pairs = (parameter.partition(":") for parameter in parameters)
    return "".join(
        f"<formalParameter name={quoteattr(name)}{_type(type_ref)}/>" for name, _, type_ref in pairs
    )


def compiled(*parts: str, dialect: DialectName = "standard") -> Decisions:
    return compile_definitions(definitions(*parts), dialect=dialect)


def evaluated(logic: str, dialect: DialectName = "standard", **variables: Value) -> DecisionEvaluation:
    """Evaluate one decision that sees these variables."""
    names = [name.replace("_", " ") for name in variables]
    model = compiled(*map(input_data, names), decision("result", logic, inputs=names), dialect=dialect)
    return model.evaluate("result", dict(zip(names, variables.values(), strict=True)))


def _required_decision(name: str) -> str:
    return f'<informationRequirement><requiredDecision href="{_href(name)}"/></informationRequirement>'


def _required_input(name: str) -> str:
    return f'<informationRequirement><requiredInput href="{_href(name)}"/></informationRequirement>'


def _href(name: str) -> str:
    """A name of this model, or a whole reference."""
    return name if "#" in name else f"#{id_of(name)}"


def _rule(number: int, entries: Sequence[str], input_count: int) -> str:
    inputs, outputs = entries[:input_count], entries[input_count:]
    inside = "".join(f"<inputEntry>{_text(text)}</inputEntry>" for text in inputs)
    return (
        f'<rule id="rule{number}">{inside}'
        + "".join(f"<outputEntry>{_text(text)}</outputEntry>" for text in outputs)
        + "</rule>"
    )


def _values(tag: str, texts: Sequence[str], number: int) -> str:
    return f"<{tag}>{_text(texts[number])}</{tag}>" if number < len(texts) else ""


def _text(text: str) -> str:
    return f"<text>{escape(text)}</text>"


def _type(type_ref: str | None) -> str:
    return f" typeRef={quoteattr(type_ref)}" if type_ref else ""
