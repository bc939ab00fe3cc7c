"""Arguments in calls of a model's functions."""

from collections.abc import Sequence
from dataclasses import dataclass

from server.dmn.session import Session
from server.dmn.types import Type, converted
from server.feel import MISSING, Value
from server.feel.printer import printed_type
from server.feel.text import shown


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a function; `element_id` is the function's id."""

    element_id: str
    names: tuple[str, ...]
    types: tuple[Type, ...]

    def accepted(self, session: Session, arguments: Sequence[Value]) -> list[Value] | None:
        """Convert the arguments; None if one has the wrong type, so that the function must not be invoked (DMN 1.5 §10.3.2.13.5)."""
        values: list[Value] = []
        for name, type_, argument in zip(self.names, self.types, arguments, strict=True):
            value = converted(argument, type_)
            if value is MISSING:
                expected = printed_type(type_.feel)
                session.note(
                    self.element_id, f"expected {expected} for '{name}' but found '{shown(argument)}'"
                )
                return None
            values.append(value)
        return values
