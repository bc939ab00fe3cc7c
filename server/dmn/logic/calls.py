"""Function definitions, and invocations with bindings."""

from collections.abc import Sequence

from server.dmn.arguments import Parameters
from server.dmn.boxed import Binding, FunctionDefinition, FunctionKind, Invocation, LiteralExpression
from server.dmn.errors import ProblemKind
from server.dmn.place import Place
from server.dmn.session import Evaluate, Frame
from server.feel import Function, Value
from server.feel.dialects import DIALECTS
from server.feel.run import Run
from server.feel.text import shown


def function_definition(node: FunctionDefinition, place: Place) -> Evaluate:
    """Compile a function definition; the function closes over the frame in which it is defined."""
    if node.kind is not FunctionKind.FEEL:
        return place.problem(
            node, ProblemKind.DECISION_LOGIC, f"expected a function in FEEL, found one in {node.kind}"
        )
    inner = place.inner(parameter.name for parameter in node.parameters)
    body = _null if node.body is None else inner.compile(node.body)
    parameters = parameters_of(node, place)
    types = tuple(type_.feel for type_ in parameters.types)

    def function(frame: Frame) -> Value:
        def invoked(_run: Run, arguments: Sequence[Value]) -> Value:
            values = parameters.accepted(frame.session, arguments)
            if values is None:
                return None
            inner = frame.inner(dict(zip(parameters.names, values, strict=True)))
            return frame.session.call(lambda: body(inner))

        return Function(parameters.names, invoked, types)

    return function


def parameters_of(node: FunctionDefinition, place: Place) -> Parameters:
    return Parameters(
        node.id,
        tuple(parameter.name for parameter in node.parameters),
        tuple(place.type(parameter.type_ref, parameter) for parameter in node.parameters),
    )


def _null(_frame: Frame) -> Value:
    return None


def invocation(node: Invocation, place: Place) -> Evaluate:
    if _is_not_required(node, place):
        return place.problem(
            node.function,
            ProblemKind.INVOCATION_TARGET,
            "expected a required function, found one that is not required",
        )
    function = place.compile(node.function)
    bindings = {binding.parameter.name: _binding(binding, place) for binding in node.bindings}
    dialect, types = DIALECTS[place.dialect.name], place.types.model

    def invoked(frame: Frame) -> Value:
        target = function(frame)
        if not isinstance(target, Function):
            frame.session.note(node.id, f"expected a function but found '{shown(target)}'")
            return None
        unknown = bindings.keys() - {*target.parameters}
        if unknown:
            frame.session.note(node.id, f"the function has no parameter '{min(unknown)}'")
            return None
        arguments = [bindings.get(parameter, _null)(frame) for parameter in target.parameters]
        run = Run(frame.scope, 0, dialect=dialect, ports=frame.session.ports(types))
        result = target.invoke(run, arguments)
        for failure in run.failures or ():
            frame.session.note(node.id, failure.message)
        return result

    return invoked


def _is_not_required(node: Invocation, place: Place) -> bool:
    target = node.function.text if isinstance(node.function, LiteralExpression) else ""
    return target in place.functions and target not in place.seen


def _binding(binding: Binding, place: Place) -> Evaluate:
    if binding.value is None:
        return _null
    return place.typed(place.compile(binding.value), binding.parameter.type_ref, binding.parameter)
