"""Calls of builtins and of functions defined by expressions."""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Final

from server.feel.builtins import CAMUNDA_PARAMETERS, CAMUNDA_SIGNATURES, SIGNATURES
from server.feel.closures.literals import constant
from server.feel.constants import temporal_literal
from server.feel.dialects import Dialect
from server.feel.failures import FailureType
from server.feel.names import Closure, Compile, Names
from server.feel.nodes import Arguments, Call, Invocation, QualifiedCall
from server.feel.run import Run, verbatim
from server.feel.signatures import Signature, called, invoke
from server.feel.suggestions import FUNCTIONS_MEANT, nearest
from server.feel.values import MISSING, Function, Missing, Value

_CACHED_HINTS: Final = 256


def call(node: Call, names: Names, compile_node: Compile) -> Closure:
    """Compile a call.

    A builtin takes precedence, unless the expression itself binds the name. Other functions are looked up in
    the scope.
    """
    values = tuple(compile_node(value, names) for value in node.arguments.values)
    dialect = names.layout.dialect
    if node.name in SIGNATURES and not names.is_bound(node.name):
        return _builtin_call(node, values, dialect)
    lookup = names.lookup(node.name)
    fallback = _builtin_call(node, values, dialect)

    def invoked(run: Run) -> Value:
        function = lookup(run)
        arguments = _arguments_for(function, node.arguments, values)
        if not isinstance(function, Function) or arguments is None:
            return fallback(run)
        return function.invoke(run, [argument(run) for argument in arguments])

    return invoked


def qualified_call(node: QualifiedCall, names: Names, compile_node: Compile) -> Closure:
    source = compile_node(node.source, names)
    values = tuple(compile_node(value, names) for value in node.arguments.values)

    complaint = verbatim(_complaint(node.name, node.arguments))

    def invoked(run: Run) -> Value:
        context = source(run)
        function = context.get(node.name, MISSING) if isinstance(context, dict) else MISSING
        arguments = _arguments_for(function, node.arguments, values)
        if not isinstance(function, Function) or arguments is None:
            run.refuse(complaint, position=node.position)
            return None
        return function.invoke(run, [argument(run) for argument in arguments])

    return invoked


def invocation(node: Invocation, names: Names, compile_node: Compile) -> Closure:
    source = compile_node(node.function, names)
    values = tuple(compile_node(value, names) for value in node.arguments.values)

    def invoked(run: Run) -> Value:
        function = source(run)
        arguments = _arguments_for(function, node.arguments, values)
        if not isinstance(function, Function) or arguments is None:
            complaint = "Expected a function of these parameters but found '{}'"
            run.fail(FailureType.NO_FUNCTION_FOUND, complaint, function, position=node.position)
            return None
        return function.invoke(run, [argument(run) for argument in arguments])

    return invoked


def _arguments_for(
    function: Value | Missing, arguments: Arguments, values: tuple[Closure, ...]
) -> Sequence[Closure] | None:
    """Return one closure per parameter, or None if the function does not accept these arguments."""
    if not isinstance(function, Function):
        return None
    if arguments.names is None:
        return values if len(values) == len(function.parameters) else None
    given = dict(zip(arguments.names, values, strict=True))
    if not given.keys() <= {*function.parameters}:
        return None
    return [given.get(parameter, _NULL) for parameter in function.parameters]


_NULL = constant(None)


def _builtin_call(node: Call, values: tuple[Closure, ...], dialect: Dialect) -> Closure:
    literal = temporal_literal(node)
    if literal is not None:
        return constant(literal)
    signatures = SIGNATURES.get(node.name, ())
    if node.arguments.names is not None:
        further = CAMUNDA_PARAMETERS.get(node.name, {}) if dialect.renames_parameters else {}
        signatures += CAMUNDA_SIGNATURES.get(node.name, ()) if dialect.renames_parameters else ()
        names = [further.get(name, name) for name in node.arguments.names]
        return _named_call(node, signatures, dict(zip(names, values, strict=True)))
    candidates = [signature for signature in signatures if signature.accepts_count(len(values))]
    return _builtin_invocation(node, candidates, values)


def _named_call(node: Call, signatures: Sequence[Signature], given: dict[str, Closure]) -> Closure:
    accepting = [signature for signature in signatures if signature.accepts_names(given)]
    if not accepting:
        return _builtin_invocation(node, (), ())
    parameters = accepting[0].parameters
    values = [given.get(each.name, constant(each.default)) for each in parameters]
    names = [each.name for each in parameters]
    candidates = [each for each in accepting if [one.name for one in each.parameters] == names]
    return _builtin_invocation(node, candidates, values)


def _builtin_invocation(node: Call, candidates: Sequence[Signature], arguments: Sequence[Closure]) -> Closure:
    name, position = node.name, node.position
    if not candidates:
        return _not_found(node)

    first = candidates[0]
    if len(arguments) == 1:
        return _invocation_of_one(node, candidates, arguments[0])

    def invocation(run: Run) -> Value:
        values = [argument(run) for argument in arguments]
        if first.accepts_as_they_are(values):
            return called(run, name, first, values, position)
        return invoke(run, name, candidates, values, position)

    return invocation


def _invocation_of_one(node: Call, candidates: Sequence[Signature], argument: Closure) -> Closure:
    """Compile the most common call, with a single argument, without the overhead of several."""
    name, position, first = node.name, node.position, candidates[0]
    types = first.types[0]

    def invocation(run: Run) -> Value:
        value = argument(run)
        if types is None or type(value) in types:
            return called(run, name, first, [value], position)
        return invoke(run, name, candidates, [value], position)

    return invocation


def _not_found(node: Call) -> Closure:
    complaint = _complaint(node.name, node.arguments)

    def not_found(run: Run) -> Value:
        message = verbatim(f"{complaint}{_hint(node.name)}")
        run.fail(FailureType.NO_FUNCTION_FOUND, message, position=node.position)
        return None

    return not_found


@cache
def _parameters(name: str) -> str:
    calls = [f"{name}({', '.join(each.name for each in one.parameters)})" for one in SIGNATURES[name]]
    return " or ".join(calls)


@lru_cache(_CACHED_HINTS)
def _hint(name: str) -> str:
    """Return a hint with the builtin's parameters, or the builtin that was probably meant."""
    if name in SIGNATURES:
        return f". It is called as {_parameters(name)}"
    meant = FUNCTIONS_MEANT.get(name.lower()) or nearest(name, SIGNATURES)
    return f". Did you mean '{meant}'?" if meant else ""


def _complaint(name: str, arguments: Arguments) -> str:
    count = f"{len(arguments.values)} parameters"
    given = count if arguments.names is None else f"parameters: {', '.join(arguments.names)}"
    return f"No function found with name '{name}' and {given}"
