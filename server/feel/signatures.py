"""The signatures of builtins, derived from their Python signatures.

Parameter names are FEEL's: `_` stands for a space, and a trailing `_` avoids a Python keyword. Annotations
are the accepted types. `Run` requests the evaluation, `Spread` a list that can also be given as single
arguments, and `*items` any number of further arguments.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Final, TypeAlias, Union, get_args, get_origin

from server.feel.errors import InvocationError
from server.feel.failures import FailureType
from server.feel.run import SIZED, Run, cost, verbatim
from server.feel.values import Value

Builtin: TypeAlias = Callable[..., Value]

Family: TypeAlias = Mapping[str, Builtin | tuple[Builtin, ...]]

_SPREAD: Final = "spread"
Spread: TypeAlias = Annotated[list[Value], _SPREAD]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter; `types` is None if any value is accepted. `default` applies to named calls without it."""

    name: str
    types: frozenset[type] | None
    default: Value = None
    is_optional: bool = False
    is_spread: bool = False
    is_variadic: bool = False


@dataclass(frozen=True, slots=True)
class Signature:
    """The signature of a builtin; `types` are those of the parameters."""

    function: Builtin
    parameters: tuple[Parameter, ...]
    types: tuple[frozenset[type] | None, ...]
    wants_run: bool
    spreads: bool

    def accepts_count(self, count: int) -> bool:
        if self.spreads:
            return count > 0
        required = sum(not (parameter.is_optional or parameter.is_variadic) for parameter in self.parameters)
        return required <= count and (self._is_variadic or count <= len(self.parameters))

    def accepts_names(self, names: Iterable[str]) -> bool:
        return {*names} <= {parameter.name for parameter in self.parameters}

    def arranged(self, values: list[Value]) -> list[Value]:
        """Collect single arguments into the list that the function takes."""
        if self.spreads and not (len(values) == 1 and isinstance(values[0], list)):
            return [values]
        return values

    def accepts(self, values: list[Value]) -> bool:
        for types, value in zip(self.types, values, strict=False):
            if types is not None and type(value) not in types:
                return False
        return True

    def accepts_as_they_are(self, values: list[Value]) -> bool:
        """Whether the values need no collecting or conversion, which is the most common case."""
        if self.spreads and len(values) != 1:
            return False
        return self.accepts(values)

    def converted(self, values: list[Value]) -> list[Value]:
        """Convert lists of one to their items, and items to lists of one (DMN 1.5 §10.3.2.9.4)."""
        return [
            _converted(value, parameter) for value, parameter in zip(values, self.parameters, strict=False)
        ] + values[len(self.parameters) :]

    def call(self, run: Run, values: list[Value]) -> Value:
        steps = 1
        for value in values:
            if type(value) in SIZED:
                steps += cost(value)
        run.charge(steps)
        result = self.function(run, *values) if self.wants_run else self.function(*values)
        if type(result) in SIZED:
            run.charge(cost(result))
        return result

    @property
    def _is_variadic(self) -> bool:
        return bool(self.parameters) and self.parameters[-1].is_variadic


def signature_of(function: Builtin) -> Signature:
    parameters = list(inspect.signature(function).parameters.values())
    wants_run = bool(parameters) and parameters[0].annotation is Run
    accepted = tuple(map(_parameter, parameters[wants_run:]))
    return Signature(
        function,
        accepted,
        tuple(each.types for each in accepted),
        wants_run=wants_run,
        spreads=len(accepted) == 1 and accepted[0].is_spread,
    )


def invoke(
    run: Run, name: str, candidates: Sequence[Signature], values: list[Value], position: int | None = None
) -> Value:
    """Call the first candidate that accepts the types of the values."""
    for candidate in candidates:
        arranged = candidate.arranged(values)
        if candidate.accepts(arranged):
            return called(run, name, candidate, arranged, position)
    if run.dialect.converts_singletons:
        for candidate in candidates:
            converted = candidate.converted(values)
            if candidate.accepts(converted):
                return called(run, name, candidate, converted, position)
    given = ", ".join(["'{}'"] * len(values))
    complaint = f"Failed to invoke function '{name}': Illegal arguments: {given}"
    run.fail(FailureType.FUNCTION_INVOCATION_FAILURE, complaint, *values, position=position)
    return None


def called(run: Run, name: str, signature: Signature, values: list[Value], position: int | None) -> Value:
    try:
        return signature.call(run, values)
    except (InvocationError, ArithmeticError, ValueError) as error:
        reason = "the result is no number, or out of range" if isinstance(error, ArithmeticError) else error
        complaint = verbatim(f"Failed to invoke function '{name}': {reason}")
        run.fail(FailureType.FUNCTION_INVOCATION_FAILURE, complaint, position=position)
        return None


def _converted(value: Value, parameter: Parameter) -> Value:
    if parameter.types is None or type(value) in parameter.types or value is None:
        return value
    if isinstance(value, list) and len(value) == 1:
        return value[0]
    return [value] if list in parameter.types else value


def _parameter(parameter: inspect.Parameter) -> Parameter:
    is_optional = parameter.default is not inspect.Parameter.empty
    return Parameter(
        name=parameter.name.rstrip("_").replace("_", " "),
        types=_types(parameter.annotation),
        default=parameter.default if is_optional else None,
        is_optional=is_optional,
        is_spread=_SPREAD in get_args(parameter.annotation),
        is_variadic=parameter.kind is inspect.Parameter.VAR_POSITIONAL,
    )


def _types(annotation: object) -> frozenset[type] | None:
    if annotation == Value:
        return None
    if get_origin(annotation) in {Union, UnionType}:
        return frozenset().union(*(_types(part) or () for part in get_args(annotation)))
    if get_origin(annotation) is Annotated:
        return _types(get_args(annotation)[0])
    plain = get_origin(annotation) or annotation or NoneType
    if not isinstance(plain, type):
        raise TypeError(f"a builtin's parameter needs a FEEL type, not {annotation}")
    return frozenset({plain})
