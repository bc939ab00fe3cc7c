"""The table of settings of docs/configuration.md, made of the configuration dataclasses."""

import dataclasses
from collections.abc import Iterator
from enum import StrEnum
from typing import get_type_hints

from server.sections import Config

BEGIN = "<!-- configuration: generated, `make golden` -->\n"
END = "<!-- /configuration -->\n"


def configuration_table() -> str:
    rows = [*_rows(Config)]
    return "\n".join(["| setting | environment | default |", "|---|---|---|", *rows, ""])


def _rows(config: type) -> Iterator[str]:
    for section, kind in get_type_hints(config).items():
        yield from _section(section, kind)


def _section(section: str, kind: type) -> Iterator[str]:
    """A section within another comes after it."""
    yield f"| **[{section}]** {_meaning(kind)} | | |"
    inner = {field.name: _value(field) for field in dataclasses.fields(kind) if _is_section(field)}
    for field in dataclasses.fields(kind):
        if field.name not in inner:
            yield _row(section, field)
    for name, default in inner.items():
        yield from _section(f"{section}.{name}", type(default))


def _row(section: str, field: dataclasses.Field[object]) -> str:
    default = _value(field)
    if _is_table(default, field):
        count = f"{len(default)} of them" if isinstance(default, tuple) and default else "none"
        return f"| `[[{section}.{field.name}]]` | | {count} |"
    # The environment reaches no deeper than one section.
    name = "" if "." in section else f"`GNOMON_{section}__{field.name}`".upper()
    return f"| `{section}.{field.name}` | {name} | {_default(default)} |"


def _value(field: dataclasses.Field[object]) -> object:
    is_made = field.default_factory is not dataclasses.MISSING
    return field.default_factory() if is_made else field.default  # type: ignore[misc]  # as mypy sees the class


def _is_section(field: dataclasses.Field[object]) -> bool:
    return dataclasses.is_dataclass(_value(field))


def _is_table(default: object, field: dataclasses.Field[object]) -> bool:
    items = default if isinstance(default, tuple) else ()
    return any(map(dataclasses.is_dataclass, items)) or (default == () and "Seed" in str(field.type))


def _default(value: object) -> str:
    match value:
        case None | "" | ():
            return "none"
        case bool():
            return f"`{value}`".lower()
        case float():
            return f"`{value:g}`"
        case StrEnum():
            others = ", ".join(member for member in type(value) if member is not value)
            return f"`{value}` (or {others})"
        case _:
            return f"`{value}`"


def _meaning(kind: type) -> str:
    """The docstring of a section, on one line, without the section's name."""
    text = " ".join((kind.__doc__ or "").split())
    return text.partition("]: ")[2] or text
