"""Code for calls of builtins with arguments of the expected types.

A builtin that uses the run gets a separate one without ports, and must not record failures. Calls of
functions from the text are left to the closures, because they may use the ports.
"""

from collections.abc import Mapping
from typing import Final

from server.feel import nodes
from server.feel.builtins import SIGNATURES
from server.feel.generated.block import Block, Emit, Item, Kind, UnsupportedError
from server.feel.run import SIZED
from server.feel.signatures import Signature
from server.feel.values import Function

_RESULTS: Final[Mapping[object, Kind]] = {bool: Kind.BOOLEAN, int: Kind.INT, str: Kind.STRING}


def call(node: nodes.Call, block: Block, emit: Emit) -> str:
    """Generate a call of the first signature with this number of arguments, which covers most calls."""
    signature = signature_of(node, block)
    if signature is None or node.arguments.names is not None:
        raise UnsupportedError(node)
    arguments = [emit(value, block) for value in node.arguments.values]
    block.charge(" + ".join(["1", *accepted_arguments(signature, arguments, block)]))
    result = _called(signature, arguments, block)
    if block.kind(result) in {Kind.ANY, Kind.STRING}:
        block.charge(f"cost({result})")
    return result


def _called(signature: Signature, arguments: list[str], block: Block) -> str:
    function, kind = block.source.constant(signature.function), kind_of_result(signature)
    if not signature.wants_run:
        return block.assigned(f"{function}({', '.join(arguments)})", kind)
    run = block.assigned("new_run()")
    result = block.assigned(f"{function}({', '.join([run, *arguments])})", kind)
    block.give_up_if(f"{run}.failures is not None")
    block.charge(f"{run}.steps")
    return result


def signature_of(node: nodes.Call, block: Block) -> Signature | None:
    count = len(node.arguments.values)
    if any(not isinstance(level, Item) and node.name in level for level in block.levels):
        return None
    fitting = (each for each in SIGNATURES.get(node.name, ()) if each.accepts_count(count))
    signature = next(fitting, None)
    if signature is None or (signature.spreads and count != 1):
        return None
    return None if any(types and Function in types for types in signature.types) else signature


def accepted_arguments(signature: Signature, arguments: list[str], block: Block) -> list[str]:
    """Generate type checks of the arguments, and return expressions of their costs."""
    costs = []
    expected = [*signature.types, *[None] * len(arguments)]
    for types, argument in zip(expected, arguments, strict=False):
        if types is not None:
            block.require_types(argument, types)
        if types is None:
            costs.append(f"cost({argument})")
        elif len(types) == 1 and types <= SIZED:
            costs.append(f"len({argument})")
        elif types & SIZED:
            costs.append(f"cost({argument})")
    return costs


def kind_of_result(signature: Signature) -> Kind:
    return _RESULTS.get(signature.function.__annotations__.get("return"), Kind.ANY)
