"""What `.name` finds in a value that is no list: entries of contexts, properties of other types."""

from collections.abc import Callable, Mapping
from itertools import islice

from server.feel.failures import FailureType
from server.feel.run import Run, verbatim
from server.feel.values import MISSING, Context, Range, Value

PROPERTIES: Mapping[type, Mapping[str, Callable[..., Value]]] = {
    Range: {
        "start": lambda value: value.start,
        "end": lambda value: value.end,
        "start included": lambda value: value.start_included,
        "end included": lambda value: value.end_included,
    },
}


def property_of(run: Run, value: Value, key: str, position: int) -> Value:
    if isinstance(value, dict):
        return _entry(run, value, key, position)
    if value is None:
        _no_entry(run, key, "The context is null", position)
        return None
    properties = PROPERTIES.get(type(value), {})
    if key in properties:
        return properties[key](value)
    available = f". Available properties: {_quoted(properties)}" if properties else ""
    complaint = f"No property found with name '{verbatim(key)}' of value '{{}}'{available}"
    run.fail(FailureType.NO_PROPERTY_FOUND, complaint, value, position=position)
    return None


def _entry(run: Run, context: Context, key: str, position: int) -> Value:
    found = context.get(key, MISSING)
    if found is not MISSING:
        return found
    _no_entry(
        run, key, f"Available keys: {_quoted(context)}" if context else "The context is empty", position
    )
    return None


def _no_entry(run: Run, key: str, reason: str, position: int) -> None:
    complaint = verbatim(f"No context entry found with key '{key}'. {reason}")
    run.fail(FailureType.NO_CONTEXT_ENTRY_FOUND, complaint, position=position)


def _quoted(names: Mapping[str, object]) -> str:
    return ", ".join(f"'{name}'" for name in islice(names, _MAX_NAMES))


_MAX_NAMES = 20
