"""Converts elements to activate in ad-hoc sub-processes from requests."""

from collections.abc import Iterable
from typing import Protocol

from server.engine.variables import MAX_VARIABLES
from server.engine.work import Activation
from server.platform.errors import InvalidArgument
from server.rpc.variables import variables_of


class Reference(Protocol):
    """An element in a request, with its variables as JSON."""

    @property
    def element_id(self) -> str: ...

    @property
    def variables(self) -> bytes: ...


def activations_of(references: Iterable[Reference], field: str) -> tuple[Activation, ...]:
    """The activations; raises InvalidArgument when they have more variables together than one request may have."""
    activations = tuple(
        Activation(each.element_id, dict(variables_of(each.variables))) for each in references
    )
    number = sum(len(each.variables) for each in activations)
    if number > MAX_VARIABLES:
        raise InvalidArgument(
            f"{field}: expected at most {MAX_VARIABLES} variables, found {number}", field=field
        )
    return activations
