"""Describes the elements that can be activated in an ad-hoc sub-process, for its job worker.

`fromAi(reference, description, type, schema, options)` in an input mapping marks a parameter of the element.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Final

from server import feel
from server.bpmn import extensions
from server.bpmn.model import FlowNode

MARKER: Final = "fromAi"
_PARAMETERS: Final = ("value", "description", "type", "schema", "options")

CONSTANT_STEPS: Final = 10_000
"""Most evaluation steps of a description, type, schema or options."""


def description_of(activities: Iterable[FlowNode]) -> str:
    """JSON text of the elements; empty members are left out."""
    described = [_described(activity) for activity in activities]
    return json.dumps(described, ensure_ascii=False, separators=(",", ":"), default=_number)


def _described(activity: FlowNode) -> Mapping[str, object]:
    documentation = activity.markup.first("documentation")
    return _without_blanks(
        {
            "elementId": activity.id,
            "elementName": activity.name,
            "documentation": documentation.text if documentation is not None else None,
            "properties": extensions.properties(activity.markup),
            "parameters": list(_parameters(activity)),
        }
    )


def _parameters(activity: FlowNode) -> Iterator[Mapping[str, object]]:
    for mapping in extensions.input_mappings(activity.markup):
        source = mapping.source or ""
        if not source.startswith("=") or MARKER not in source:
            continue
        try:
            calls = feel.written_calls(source[1:], MARKER, _PARAMETERS)
        except feel.FeelSyntaxError:
            # A stored process must compile, even with a wrong expression.
            continue
        for call in calls:
            rest = {name: _constant(call[name]) for name in _PARAMETERS[1:] if name in call}
            yield _without_blanks({"name": call.get("value"), **rest})


def _constant(text: str) -> feel.Value:
    """The value of an expression without variables; None if it fails."""
    try:
        ports = feel.Ports(budget=feel.Budget(CONSTANT_STEPS))
        return feel.compile_expression(text).evaluate({}, ports).value
    except feel.FeelError:
        return None


def _without_blanks(members: Mapping[str, object]) -> Mapping[str, object]:
    return {name: value for name, value in members.items() if value not in (None, "", {}, [])}


def _number(value: object) -> object:
    """JSON values for the types that JSON lacks: decimals as floats, others as text."""
    return float(value) if isinstance(value, Decimal) else str(value)
