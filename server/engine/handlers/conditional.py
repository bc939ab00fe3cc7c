"""Conditional start events: a caller provides the variables for their conditions."""

from collections.abc import Iterator

from server import feel
from server.engine import events
from server.engine.answers import EvaluatedConditionals
from server.engine.definitions import Definition
from server.engine.expressions import is_met
from server.engine.incidents import Incident
from server.engine.instantiation import begin_at
from server.engine.keys import Key
from server.engine.ordered_keys import OrderedKeys
from server.engine.rejection import Rejected, RejectionType
from server.engine.scopes import VariableScope
from server.engine.signal_commands import EvaluateConditionals
from server.engine.start_triggers import ConditionStart
from server.engine.starts import Start
from server.engine.step import Step
from server.engine.variables import CACHED_TEXT_LENGTH, decode
from server.feel.limits import CHARACTERS_PER_STEP


def evaluate(command: EvaluateConditionals, step: Step) -> EvaluatedConditionals:
    """Evaluate all conditions with the step budget of one element, then create the process instances."""
    key = step.next_key()
    scope = _Given(step, key, command)
    most = step.state.limits.conditional_starts
    starts: list[Start] = []
    for definition in _definitions(command, step):
        starts += _met(definition, scope)
        advice = (
            "name one process definition"
            if command.process_definition_key is None
            else "give it fewer start events"
        )
        if step.budget.left <= 0:
            raise Rejected(RejectionType.INVALID_STATE, f"the conditions take too many steps: {advice}")
        if len(starts) > most:
            raise Rejected(
                RejectionType.INVALID_STATE,
                f"the variables would begin more than {most} process instances: {advice}",
            )
    step.emit(events.ConditionalsEvaluated(key, command.tenant_id))
    return EvaluatedConditionals(
        key, tuple(begin_at(step, start, command.variables).head for start in starts)
    )


def _definitions(command: EvaluateConditionals, step: Step) -> Iterator[Definition]:
    """The definitions whose conditions are evaluated, latest versions only; raises Rejected."""
    state, key = step.state, command.process_definition_key
    if key is None:
        line = state.starts.conditions.get(command.tenant_id, OrderedKeys[str, Key]())
        yield from (state.definitions[line[process_id]] for process_id in line.after())
        return
    definition = state.definitions.get(key)
    if definition is None or definition.tenant_id != command.tenant_id:
        raise Rejected(RejectionType.NOT_FOUND, f"no process definition with key {key}")
    if state.latest(command.tenant_id, definition.process_definition_id) is definition:
        yield definition


def _met(definition: Definition, scope: "_Given") -> Iterator[Start]:
    """The start events whose conditions are true; an evaluation that fails counts as false."""
    for start in definition.starts:
        if isinstance(start, ConditionStart) and scope.brings_any(start) and _is_met(start, scope):
            yield Start(definition.key, start.element_id)


def _is_met(start: ConditionStart, scope: VariableScope) -> bool:
    try:
        return is_met(feel.compile_expression(start.condition), scope)
    except (Incident, feel.FeelSyntaxError):
        return False


class _Given(VariableScope):
    """The variables of the command as a scope."""

    __slots__ = ("_tenant_id", "_variables")

    def __init__(self, step: Step, key: Key, command: EvaluateConditionals) -> None:
        self._step = step
        self._scope_key = key
        self._tenant_id = command.tenant_id
        self._variables = command.variables

    def brings_any(self, start: ConditionStart) -> bool:
        """Whether the start event filters for one of the variables; without a filter it accepts all."""
        names = start.variable_names
        return names is None or not self._variables.keys().isdisjoint(names)

    def get(self, name: str, default: feel.Missing, /) -> feel.Value | feel.Missing:
        text = self._variables.get(name)
        if text is None:
            return self._common(name, default, self._tenant_id)
        if len(text) > CACHED_TEXT_LENGTH:
            self._step.budget.spend(len(text) // CHARACTERS_PER_STEP)
        return decode(text)
