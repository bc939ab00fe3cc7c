"""Compiled decision tables: inputs are evaluated once, matching rules are found, and outputs are combined."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from server import feel
from server.dmn.boxed import DecisionTable, HitPolicy, InputClause, OutputClause, Rule, UnaryTests
from server.dmn.errors import ProblemKind
from server.dmn.place import Place
from server.dmn.results import EvaluatedInput, EvaluatedOutput, MatchedRule
from server.dmn.session import DecisionFailedError, Evaluate, Frame
from server.dmn.tables.cells import spans_of
from server.dmn.tables.hit_policies import Hit, ViolationError, combination
from server.dmn.tables.index import Cell
from server.dmn.tables.matcher import Matcher
from server.dmn.tables.plain_cells import plain_spans
from server.dmn.tables.priorities import Rank, rank_among, unranked
from server.feel import Value
from server.feel.text import shown
from server.feel.types import ModelTypes


@dataclass(frozen=True, slots=True)
class TableEvaluation:
    value: Value
    inputs: tuple[EvaluatedInput, ...] = ()
    matched_rules: tuple[MatchedRule, ...] = ()


class TableFailedError(DecisionFailedError):
    """A hit policy was violated; `evaluation` is the progress until then."""

    def __init__(self, message: str, table: "Table", evaluation: TableEvaluation) -> None:
        super().__init__(message)
        self.table = table
        self.evaluation = evaluation


@dataclass(frozen=True, slots=True)
class _Input:
    clause: InputClause
    evaluate: Evaluate
    allowed: feel.UnaryTests | None


@dataclass(frozen=True, slots=True)
class _Output:
    """An output column; `name` is its key in the value of a table with several outputs."""

    clause: OutputClause
    name: str
    rank: Rank


def decision_table(node: DecisionTable, place: Place) -> Evaluate:
    table = Table(node, place)
    return lambda frame: table.evaluate(frame).value


class Table:
    def __init__(self, node: DecisionTable, place: Place) -> None:
        if node.aggregation is not None and len(node.outputs) > 1:
            place.problem(
                node,
                ProblemKind.COLLECT_SINGLE_OUTPUT,
                f"expected one output to aggregate, found {len(node.outputs)}",
            )
        self._id = node.id
        self._types = place.types.model
        self._fails_on_violation = place.dialect.fails_on_violation
        self._inputs = tuple(_input(clause, place) for clause in node.inputs)
        self._outputs = tuple(_output(clause, node, place) for clause in node.outputs)
        self._rules = node.rules
        self._entries = [
            tuple(
                place.typed(place.compile(entry), clause.type_ref, entry)
                for entry, clause in zip(rule.outputs, node.outputs, strict=True)
            )
            for rule in node.rules
        ]
        self._matcher = _matcher(node.rules, place)
        self._most = 1 if node.hit_policy is HitPolicy.FIRST else None
        self._combine = combination(node.hit_policy, node.aggregation, place.dialect.name)
        self._default = _default(node, place)

    def evaluate(self, frame: Frame) -> TableEvaluation:
        values = [each.evaluate(frame) for each in self._inputs]
        inputs = tuple(map(_evaluated_input, self._inputs, values))
        if not self._are_allowed(values, frame):
            return TableEvaluation(None, inputs)
        rules = self._matcher.matching(values, frame, self._most)
        matches = [(rule, [entry(frame) for entry in self._entries[rule]]) for rule in rules]
        matched = tuple(self._matched_rule(*match) for match in matches)
        try:
            value = self._value([outputs for _, outputs in matches], frame)
        except ViolationError as error:
            if self._fails_on_violation:
                reached = TableEvaluation(None, inputs, matched)
                raise TableFailedError(str(error), self, reached) from error
            frame.session.note(self._id, str(error))
            value = None
        return TableEvaluation(value, inputs, matched)

    def _are_allowed(self, values: Sequence[Value], frame: Frame) -> bool:
        """Check the inputs against the input values; a violation is an error (DMN 1.5 §8.3.3)."""
        for each, value in zip(self._inputs, values, strict=True):
            if each.allowed is None or _accepts(each.allowed, value, frame, self._types):
                continue
            frame.session.note(each.clause.id, f"the input values do not allow '{shown(value)}'")
            return False
        return True

    def _value(self, matches: Sequence[Sequence[Value]], frame: Frame) -> Value:
        if not matches:
            return self._default(frame)
        return self._combine([self._hit(outputs) for outputs in matches])

    def _hit(self, outputs: Sequence[Value]) -> Hit:
        ranks = tuple(each.rank(value) for each, value in zip(self._outputs, outputs, strict=True))
        return Hit(_value_of([each.name for each in self._outputs], outputs), ranks)

    def _matched_rule(self, rule: int, outputs: Sequence[Value]) -> MatchedRule:
        return MatchedRule(
            self._rules[rule].id, rule + 1, tuple(map(_evaluated_output, self._outputs, outputs))
        )


def _accepts(tests: feel.UnaryTests, value: Value, frame: Frame, types: ModelTypes) -> bool:
    return tests.evaluate(value, frame.scope, ports=frame.session.ports(types)).value is True


def _input(clause: InputClause, place: Place) -> _Input:
    allowed = None
    if clause.values is not None and place.dialect.checks_input_values:
        allowed = place.unary_tests(clause.values)
    return _Input(clause, place.compile(clause.expression), allowed)


def _output(clause: OutputClause, node: DecisionTable, place: Place) -> _Output:
    if not clause.name and len(node.outputs) > 1:
        place.problem(
            clause, ProblemKind.OUTPUT_NAME, "expected a name of every output of several, found none"
        )
    if node.hit_policy not in _RANKED:
        return _Output(clause, clause.name or "", unranked)
    return _Output(clause, clause.name or "", _rank(clause, node, place))


_RANKED: Final = frozenset({HitPolicy.PRIORITY, HitPolicy.OUTPUT_ORDER})


def _rank(clause: OutputClause, node: DecisionTable, place: Place) -> Rank:
    if clause.values is not None:
        return rank_among(clause.values, place)
    allowed = place.types.allowed_values(
        clause.type_ref or (node.type_ref if len(node.outputs) == 1 else None)
    )
    return unranked if allowed is None else rank_among(allowed, place)


def _default(node: DecisionTable, place: Place) -> Evaluate:
    """Return the evaluation of the default outputs, for when no rule matches."""
    entries = {
        clause.name or "": place.typed(place.compile(clause.default), clause.type_ref, clause)
        for clause in node.outputs
        if clause.default is not None
    }
    names = [clause.name or "" for clause in node.outputs]

    def default(frame: Frame) -> Value:
        values = [entries[name](frame) if name in entries else None for name in names]
        return _value_of(names, values) if entries else None

    return default


def _value_of(names: Sequence[str], outputs: Sequence[Value]) -> Value:
    return outputs[0] if len(outputs) == 1 else dict(zip(names, outputs, strict=True))


def _matcher(rules: Sequence[Rule], place: Place) -> Matcher:
    """Create the matcher; equal texts are compiled once."""
    known: dict[tuple[str, str | None], Cell] = {}
    return Matcher(
        [
            [
                known.get(key := (entry.text, entry.language)) or known.setdefault(key, _cell(entry, place))
                for entry in rule.inputs
            ]
            for rule in rules
        ],
        place.types.model,
    )


def _cell(entry: UnaryTests, place: Place) -> Cell:
    spans = plain_spans(entry.text) if place.may_be_plain(entry) else None
    if spans is not None:
        return Cell(spans)
    tests = place.unary_tests(entry)
    # Similar tests refer to the input or to variables, so they have no spans.
    return Cell(None if tests is None or tests.is_similar else spans_of(tests.node), tests)


def _evaluated_input(each: _Input, value: Value) -> EvaluatedInput:
    return EvaluatedInput(each.clause.id, each.clause.label or each.clause.expression.text, value)


def _evaluated_output(each: _Output, value: Value) -> EvaluatedOutput:
    return EvaluatedOutput(each.clause.id, each.clause.label or each.name, value)
