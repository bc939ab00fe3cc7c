"""Errors of malformed requests, each with the path of the property."""

import re

import msgspec

from server.platform.errors import InvalidArgument

_PLACE = re.compile(r"(?P<fault>.*?)(?: - at `(?:key in )?\$\.?(?P<path>.*)`)?", re.DOTALL)
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>.*)`", re.DOTALL)
_SHOWN = 100


class Malformed(ValueError):
    """A value that violates the contract; `path` leads to it from the outermost property."""

    def __init__(self, fault: str, path: str = "") -> None:
        super().__init__(fault)
        self.fault = fault
        self.path = path

    def within(self, name: str) -> "Malformed":
        """Return the same error with the path of the enclosing object or array."""
        separator = "." if self.path and not self.path.startswith("[") else ""
        return Malformed(self.fault, f"{name}{separator}{self.path}")

    def refusal(self) -> InvalidArgument:
        return InvalidArgument(f"{self.path or 'request'}: {self.fault}", field=self.path)


def mismatch(error: msgspec.ValidationError) -> Malformed:
    """Translate an error of msgspec."""
    place = _PLACE.fullmatch(str(error))
    fault, path = (place["fault"], place["path"] or "") if place else (str(error), "")
    unknown = _UNKNOWN.fullmatch(fault)
    if unknown:
        return Malformed("unknown property", f"{path}.{unknown['name']}" if path else unknown["name"])
    return Malformed(fault[:1].lower() + fault[1:], path)


def shown(value: object) -> str:
    """Return a value for a message, truncated when it is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
