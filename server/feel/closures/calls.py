"""Calls of builtins and of functions that expressions define; the definitions themselves."""

from collections.abc import Sequence

from server.feel.builtins import SIGNATURES
from server.feel.closures.literals import constant
from server.feel.errors import EvaluationError
from server.feel.failures import FailureType
from server.feel.names import Closure, Compile, Names
from server.feel.nodes import Arguments, Call, Lambda, QualifiedCall
from server.feel.run import Run, verbatim
from server.feel.signatures import Signature, invoke
from server.feel.values import MISSING, Function, Missing, Value


def call(node: Call, names: Names, compile_node: Compile) -> Closure:
    """Prefer a builtin, unless the expression itself binds the name; then what the scope has by it."""
    values = tuple(compile_node(value, names) for value in node.arguments.values)
    if node.name in SIGNATURES and not names.is_bound(node.name):
        return _builtin_call(node, values)
    lookup = names.lookup(node.name)
    fallback = _builtin_call(node, values)

    def called(run: Run) -> Value:
        function = lookup(run)
        arguments = _arguments_for(function, node.arguments, values)
        if not isinstance(function, Function) or arguments is None:
            return fallback(run)
        return function.invoke(run, [argument(run) for argument in arguments])

    return called


def qualified_call(node: QualifiedCall, names: Names, compile_node: Compile) -> Closure:
    source = compile_node(node.source, names)
    values = tuple(compile_node(value, names) for value in node.arguments.values)

    def called(run: Run) -> Value:
        context = source(run)
        function = context.get(node.name, MISSING) if isinstance(context, dict) else MISSING
        arguments = _arguments_for(function, node.arguments, values)
        if not isinstance(function, Function) or arguments is None:
            raise EvaluationError(_complaint(node))
        return function.invoke(run, [argument(run) for argument in arguments])

    return called


def _arguments_for(
    function: Value | Missing, arguments: Arguments, values: tuple[Closure, ...]
) -> Sequence[Closure] | None:
    """One closure per parameter; None if this cannot be called like that."""
    if not isinstance(function, Function):
        return None
    if arguments.names is None:
        return values if len(values) == len(function.parameters) else None
    given = dict(zip(arguments.names, values, strict=True))
    if not given.keys() <= {*function.parameters}:
        return None
    return [given.get(parameter, _NULL) for parameter in function.parameters]


_NULL = constant(None)


def _builtin_call(node: Call, values: tuple[Closure, ...]) -> Closure:
    signatures = SIGNATURES.get(node.name, ())
    if node.arguments.names is not None:
        return _named_call(node, signatures, dict(zip(node.arguments.names, values, strict=True)))
    candidates = [signature for signature in signatures if signature.accepts_count(len(values))]
    return _invocation(node, candidates, values)


def _named_call(node: Call, signatures: Sequence[Signature], given: dict[str, Closure]) -> Closure:
    for signature in signatures:
        if signature.accepts_names(given):
            values = [given.get(each.name, constant(each.default)) for each in signature.parameters]
            return _invocation(node, [signature], values)
    return _invocation(node, (), ())


def _invocation(node: Call, candidates: Sequence[Signature], arguments: Sequence[Closure]) -> Closure:
    name, position = node.name, node.position
    if not candidates:
        return _not_found(node)

    def invocation(run: Run) -> Value:
        return invoke(run, name, candidates, [argument(run) for argument in arguments], position)

    return invocation


def _not_found(node: Call) -> Closure:
    complaint = verbatim(_complaint(node))

    def not_found(run: Run) -> Value:
        run.fail(FailureType.NO_FUNCTION_FOUND, complaint, position=node.position)
        return None

    return not_found


def _complaint(node: Call | QualifiedCall) -> str:
    names, count = node.arguments.names, len(node.arguments.values)
    given = f"{count} parameters" if names is None else f"parameters: {', '.join(names)}"
    return f"No function found with name '{node.name}' and {given}"


def definition(node: Lambda, names: Names, compile_node: Compile) -> Closure:
    inner = names.inner()
    slots = [inner.bind(parameter).slot for parameter in node.parameters]
    body, size, height = inner.layout.measured(lambda: compile_node(node.body, inner))

    def function(run: Run) -> Value:
        scope, captured = run.scope, run.slots.copy()

        def invoked(caller: Run, arguments: Sequence[Value]) -> Value:
            local = captured.copy()
            for slot, argument in zip(slots, arguments, strict=True):
                local[slot] = argument
            caller.charge(size + len(local))
            return caller.inside(body, scope, local, height)

        return Function(node.parameters, invoked)

    return function
