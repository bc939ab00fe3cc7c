"""Decisions from files: compiled, evaluated, and printed."""

from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table

from server.cli.failures import give_up
from server.cli.files import read_file
from server.cli.output import Output
from server.dmn import DecisionEvaluation, Decisions, DmnError, EvaluatedDecision, compile_definitions
from server.feel import DialectName, Value, json_text
from server.feel.text import shown

NO_RULE = "none"


def compiled(file: Path, imports: list[Path], dialect: DialectName) -> Decisions:
    try:
        return compile_definitions(read_file(file), imports=map(read_file, imports), dialect=dialect)
    except DmnError as error:
        give_up(f"{file}: {error}")


def evaluated(model: Decisions, decision: str, variables: dict[str, Value]) -> DecisionEvaluation:
    if decision not in model.targets:
        give_up(f"no decision {decision} in the file; there are {', '.join(model.targets) or 'none'}")
    return model.evaluate(decision, variables)


def show(evaluation: DecisionEvaluation, *, is_json: bool) -> None:
    output = Output(is_json=is_json)
    if is_json:
        output.document(json_text.variable(_document(evaluation)).encode())
    else:
        output.print(_rendered(evaluation))


def _rendered(evaluation: DecisionEvaluation) -> RenderableType:
    parts = [_decided(decided) for decided in evaluation.evaluated]
    notes = [f"note: {failure.decision_id}: {failure.message}" for failure in evaluation.failures]
    failure = evaluation.failure
    result = (
        f"failed: {failure.decision_id}: {failure.message}" if failure else f"= {shown(evaluation.value)}"
    )
    return Group(*parts, *notes, result)


def _decided(decided: EvaluatedDecision) -> RenderableType:
    if not decided.inputs and not decided.matched_rules:
        return f"{decided.name} = {shown(decided.value)}\n"
    outputs = [output.name for output in decided.matched_rules[0].outputs] if decided.matched_rules else []
    inputs = [given.name for given in decided.inputs]
    table = Table(title=f"{decided.name} = {shown(decided.value)}", title_justify="left", box=None)
    for heading in ("Rule", *inputs, *outputs):
        table.add_column(heading, overflow="fold")
    values = [shown(given.value) for given in decided.inputs]
    for rule in decided.matched_rules:
        table.add_row(f"{rule.index} {rule.id}", *values, *(shown(output.value) for output in rule.outputs))
    if not decided.matched_rules:
        table.add_row(NO_RULE, *values)
    return table


def _document(evaluation: DecisionEvaluation) -> dict[str, Value]:
    failure = evaluation.failure
    return {
        "decisionId": evaluation.id,
        "output": evaluation.value,
        "evaluatedDecisions": [_told(decided) for decided in evaluation.evaluated],
        "failures": [failure.message for failure in evaluation.failures],
        "failedDecisionId": failure.decision_id if failure else None,
        "failureMessage": failure.message if failure else None,
    }


def _told(decided: EvaluatedDecision) -> Value:
    return {
        "decisionId": decided.id,
        "decisionType": decided.type.value,
        "output": decided.value,
        "evaluatedInputs": [
            {"inputId": each.id, "inputName": each.name, "inputValue": each.value} for each in decided.inputs
        ],
        "matchedRules": [
            {
                "ruleId": rule.id,
                "ruleIndex": rule.index,
                "evaluatedOutputs": [
                    {"outputId": each.id, "outputName": each.name, "outputValue": each.value}
                    for each in rule.outputs
                ],
            }
            for rule in decided.matched_rules
        ],
    }
