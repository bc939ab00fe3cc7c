"""Checks of timers."""

from collections.abc import Callable, Iterator, Mapping

from server.bpmn import timer_values
from server.bpmn.timer_values import MalformedTimer
from server.lint.evaluators.expressions import syntax
from server.lint.paths import written
from server.lint.rule import Rule
from server.lint.subject import Subject
from server.lint.violation import Violation
from server.xml import Markup

_FORMS: Mapping[str, Callable[[str], object]] = {
    "date": timer_values.date,
    "duration": timer_values.duration,
    "cycle": timer_values.cycle,
}
# Timer types for events that fire once, and for events that can fire repeatedly.
_ONCE = frozenset({"timeDate", "timeDuration"})
_AGAIN = frozenset({*_ONCE, "timeCycle"})
# Timer types of start events of processes.
_STARTING = frozenset({"timeDate", "timeCycle"})
# The attribute that states whether an event interrupts.
_INTERRUPTING: Mapping[str, str] = {"boundaryEvent": "cancelActivity", "startEvent": "isInterrupting"}


def timer(subject: Subject, rule: Rule) -> Iterator[Violation]:
    """Parse each path's text as the form in `value`, or as a FEEL expression with a leading `=`."""
    for path, form in zip(rule.attribute, rule.value, strict=True):
        for at, text in written(subject, path):
            if text.startswith("="):
                yield from syntax(path, text[1:], at)
                continue
            try:
                _FORMS[form](text.strip())
            except MalformedTimer as error:
                yield Violation(f"{path}: {error}", at)


def kinds(subject: Subject) -> Iterator[Violation]:
    """Allow cycles only on non-interrupting events, and no durations on start events of processes."""
    event = subject.scope.nodes.get(subject.element_id) if subject.scope is not None else None
    if event is None:
        return
    for child in subject.markup.children:
        if child.tag not in _AGAIN:
            continue
        if "bpmn:TimerEventDefinition[start]" in subject.types:
            if child.tag not in _STARTING:
                yield Violation(f"found {child.tag} at the start of a process", child)
        elif child.tag not in _allowed(event.markup):
            yield Violation(f"found {child.tag} at a {event.tag} that fires once", child)


def _allowed(event: Markup) -> frozenset[str]:
    name = _INTERRUPTING.get(event.tag, "")
    return _AGAIN if event.attributes.get(name, "true").strip() in {"false", "0"} else _ONCE
