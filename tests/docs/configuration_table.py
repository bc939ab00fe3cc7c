"""The configuration table of the README, as the dataclasses say it."""

import dataclasses
from collections.abc import Iterator
from enum import StrEnum
from typing import get_type_hints

from server.bundle import Config

BEGIN = "<!-- configuration: generated, `make golden` -->\n"
END = "<!-- /configuration -->\n"


def configuration_table() -> str:
    rows = [*_rows(Config)]
    return "\n".join(["| setting | environment | default |", "|---|---|---|", *rows, ""])


def _rows(config: type) -> Iterator[str]:
    for section, kind in get_type_hints(config).items():
        yield f"| **[{section}]** {_meaning(kind)} | | |"
        yield from (_row(section, field) for field in dataclasses.fields(kind))


def _row(section: str, field: dataclasses.Field[object]) -> str:
    if _is_table(field):
        return f"| `[[{section}.{field.name}]]` | | none |"
    name = f"GNOMON_{section}__{field.name}".upper()
    return f"| `{section}.{field.name}` | `{name}` | {_default(field.default)} |"


def _is_table(field: dataclasses.Field[object]) -> bool:
    return field.default == () and "Seed" in str(field.type)


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
