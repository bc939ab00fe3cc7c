"""Functions defined by expressions."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from server.feel.failures import FailureType
from server.feel.names import Closure, Compile, Names
from server.feel.nodes import External, Lambda
from server.feel.run import Run, measure
from server.feel.types import ANY, Type, coerced
from server.feel.values import Function, Value

_Invoke: TypeAlias = Callable[[Run, Sequence[Value]], Value]


def definition(node: Lambda, names: Names, compile_node: Compile) -> Closure:
    inner = names.inner()
    slots = [inner.bind(parameter).slot for parameter in node.parameters]
    body, size, height = inner.layout.measured(lambda: compile_node(node.body, inner))
    types = node.types if any(node.types) else ()

    def function(run: Run) -> Value:
        scope, captured = run.scope, run.slots.copy()

        def invoked(caller: Run, arguments: Sequence[Value]) -> Value:
            local = captured.copy()
            for slot, argument in zip(slots, arguments, strict=True):
                local[slot] = argument
            caller.charge(size + len(local))
            return caller.inside(body, scope, local, height)

        return Function(node.parameters, _checked(invoked, types) if types else invoked, types)

    return function


def _checked(invoked: _Invoke, types: tuple[Type | None, ...]) -> _Invoke:
    """Check argument types; an argument of the wrong type gives null with a failure."""

    def checked(caller: Run, arguments: Sequence[Value]) -> Value:
        measure(caller, *arguments)
        model = caller.ports.types
        given = [
            coerced(argument, expected or ANY, model)
            for argument, expected in zip(arguments, types, strict=True)
        ]
        for argument, value in zip(arguments, given, strict=True):
            if value is None and argument is not None:
                caller.fail(FailureType.INVALID_TYPE, "The function does not take '{}'", argument)
                return None
        return invoked(caller, given)

    return checked


def external(node: External, _names: Names, _compile: Compile) -> Closure:
    def refused(run: Run) -> Value:
        complaint = "External functions are disabled"
        run.fail(FailureType.FUNCTION_INVOCATION_FAILURE, complaint, position=node.position)
        return None

    return refused
