"""Reads decision tables from markup; raises DmnReadError as `boxed_reader` does."""

from server.dmn.boxed import Aggregation, DecisionTable, HitPolicy, InputClause, OutputClause, Rule
from server.dmn.errors import DmnReadError
from server.dmn.parts import (
    child_of,
    choice_of,
    id_of,
    literal_expression,
    name_of,
    text_of,
    type_ref_of,
    unary_tests,
)
from server.xml import Markup


def decision_table(markup: Markup) -> DecisionTable:
    inputs = tuple(map(_input_clause, markup.all("input")))
    outputs = tuple(map(_output_clause, markup.all("output")))
    if not outputs:
        raise DmnReadError("expected an output of the decision table, found none", markup.line)
    return DecisionTable(
        id=id_of(markup),
        line=markup.line,
        type_ref=type_ref_of(markup),
        hit_policy=choice_of(HitPolicy, markup, "hitPolicy") or HitPolicy.UNIQUE,
        aggregation=choice_of(Aggregation, markup, "aggregation"),
        inputs=inputs,
        outputs=outputs,
        rules=tuple(_rule(rule, len(inputs), len(outputs)) for rule in markup.all("rule")),
    )


def _input_clause(markup: Markup) -> InputClause:
    values = markup.first("inputValues")
    return InputClause(
        id=id_of(markup),
        line=markup.line,
        expression=literal_expression(child_of(markup, "inputExpression")),
        label=markup.attributes.get("label"),
        values=None if values is None or not text_of(values) else unary_tests(values),
    )


def _output_clause(markup: Markup) -> OutputClause:
    values, default = markup.first("outputValues"), markup.first("defaultOutputEntry")
    return OutputClause(
        id=id_of(markup),
        line=markup.line,
        name=name_of(markup) or None,
        label=markup.attributes.get("label"),
        type_ref=type_ref_of(markup),
        values=None if values is None or not text_of(values) else unary_tests(values),
        default=None if default is None else literal_expression(default),
    )


def _rule(markup: Markup, input_count: int, output_count: int) -> Rule:
    inputs = tuple([unary_tests(child) for child in markup.children if child.tag == "inputEntry"])
    outputs = tuple([literal_expression(child) for child in markup.children if child.tag == "outputEntry"])
    if (len(inputs), len(outputs)) != (input_count, output_count):
        raise DmnReadError(
            f"expected a rule of {input_count} input and {output_count} output entries, "
            f"found {len(inputs)} and {len(outputs)}",
            markup.line,
        )
    return Rule(id=id_of(markup), line=markup.line, inputs=inputs, outputs=outputs)
