"""The builtin functions by FEEL name, one module per family.

To add one, write a function and add a row to its family's table; `signatures` explains the annotations of
parameters. Several functions in a row are tried in order.
"""

from collections.abc import Mapping, Sequence

from server.feel.builtins import (
    booleans,
    contexts,
    conversion,
    lists,
    numbers,
    ranges,
    strings,
    surroundings,
    temporal,
)
from server.feel.run import Run
from server.feel.signatures import Builtin, Signature, invoke, signature_of
from server.feel.values import Function, Value

_FAMILIES = (
    booleans.FUNCTIONS,
    strings.FUNCTIONS,
    numbers.FUNCTIONS,
    lists.FUNCTIONS,
    contexts.FUNCTIONS,
    conversion.FUNCTIONS,
    temporal.FUNCTIONS,
    ranges.FUNCTIONS,
    surroundings.FUNCTIONS,
)


def _signatures(functions: Builtin | tuple[Builtin, ...]) -> tuple[Signature, ...]:
    return tuple(map(signature_of, functions if isinstance(functions, tuple) else (functions,)))


SIGNATURES: Mapping[str, tuple[Signature, ...]] = {
    name: _signatures(functions) for family in _FAMILIES for name, functions in family.items()
}

CAMUNDA_SIGNATURES: Mapping[str, tuple[Signature, ...]] = {
    name: _signatures(functions) for name, functions in contexts.CAMUNDA_FUNCTIONS.items()
}
"""Further signatures in Camunda's engine."""

CAMUNDA_PARAMETERS: Mapping[str, Mapping[str, str]] = {
    "abs": {"number": "n"},
    "append": {"items": "item"},
    "concatenate": {"lists": "list"},
    "extract": {"string": "input"},
    "floor": {"scala": "scale"},
    "from json": {"json": "value"},
    "get entries": {"context": "m"},
    "get value": {"context": "m"},
    "round half down": {"scala": "scale"},
    "sublist": {"start": "start position"},
    "union": {"lists": "list"},
}
"""Parameter names in Camunda's engine and its documentation that differ from the standard's."""


def _as_value(name: str, signature: Signature) -> Function:
    def invoked(run: Run, arguments: Sequence[Value]) -> Value:
        return invoke(run, name, [signature], [*arguments])

    return Function(tuple(parameter.name for parameter in signature.parameters), invoked)


BUILTINS: Mapping[str, Function] = {
    name: _as_value(name, signatures[0]) for name, signatures in SIGNATURES.items()
}
"""The builtins as values, each with the parameters of its first signature."""
