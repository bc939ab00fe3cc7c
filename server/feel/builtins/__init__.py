"""The builtin functions by FEEL name, one module per family.

To add one, write a function beside its neighbours and a row in its family's table; `signatures` says what
its parameters mean. Several functions in a row are tried in order.
"""

from collections.abc import Mapping

from server.feel.builtins import booleans, contexts, conversion, lists, numbers, strings
from server.feel.signatures import Builtin, Signature, signature_of

_FAMILIES = (
    booleans.FUNCTIONS,
    strings.FUNCTIONS,
    numbers.FUNCTIONS,
    lists.FUNCTIONS,
    contexts.FUNCTIONS,
    conversion.FUNCTIONS,
)


def _signatures(functions: Builtin | tuple[Builtin, ...]) -> tuple[Signature, ...]:
    return tuple(map(signature_of, functions if isinstance(functions, tuple) else (functions,)))


SIGNATURES: Mapping[str, tuple[Signature, ...]] = {
    name: _signatures(functions) for family in _FAMILIES for name, functions in family.items()
}
