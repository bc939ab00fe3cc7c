"""Evaluates the start events of a process at its deployment, without variables."""

from collections.abc import Iterator
from contextlib import contextmanager

from server import feel
from server.bpmn.executable import ConditionTrigger, Element, ExecutableProcess, MessageTrigger, SignalTrigger
from server.engine.expressions import string_of
from server.engine.incidents import Incident
from server.engine.keys import Key
from server.engine.message_subscriptions import bounded
from server.engine.rejection import Rejected, RejectionType
from server.engine.scopes import VariableScope
from server.engine.start_triggers import AnyStartTrigger, ConditionStart, MessageStart, SignalStart
from server.engine.step import Step


class NoVariables(VariableScope):
    """Scope of an expression that is evaluated at deployment: only time and cluster variables are available."""

    __slots__ = ("_tenant_id",)

    def __init__(self, step: Step, deployment_key: Key, tenant_id: str) -> None:
        self._step = step
        self._scope_key = deployment_key
        self._tenant_id = tenant_id

    def get(self, name: str, default: feel.Missing, /) -> feel.Value | feel.Missing:
        return self._common(name, default, self._tenant_id)


def start_triggers(process: ExecutableProcess, scope: NoVariables) -> tuple[AnyStartTrigger, ...]:
    """The triggers of the start events, with evaluated names; raises Rejected."""
    found: list[AnyStartTrigger] = []
    for start in process.root.starts:
        trigger = start.trigger
        with refused(process, start):
            if isinstance(trigger, MessageTrigger):
                name = bounded(string_of(trigger.name, scope), "name of the message")
                found.append(MessageStart(start.id, name))
            elif isinstance(trigger, SignalTrigger):
                name = bounded(string_of(trigger.name, scope), "name of the signal")
                found.append(SignalStart(start.id, name))
            elif isinstance(trigger, ConditionTrigger):
                names = trigger.variable_names if trigger.is_filtered else None
                found.append(ConditionStart(start.id, trigger.condition.text, names))
    return tuple(found)


@contextmanager
def refused(process: ExecutableProcess, start: Element) -> Iterator[None]:
    """Raises Rejected instead of Incident, because an incident could not be resolved here."""
    try:
        yield
    except Incident as incident:
        reason = f"start event '{start.id}' of process '{process.id}': {incident.message}"
        raise Rejected(RejectionType.INVALID_ARGUMENT, reason) from incident
