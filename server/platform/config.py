"""Configuration: one frozen dataclass per TOML section. Environment variables override the file.

`GNOMON_<SECTION>__<KEY>` sets one value. Classes hold the defaults. Unknown keys and wrong types are refused.
"""

import dataclasses
import tomllib
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from types import UnionType
from typing import TypeVar, Union, get_args, get_origin, get_type_hints

PREFIX = "GNOMON_"
Config = TypeVar("Config")


class ConfigError(ValueError):
    """An invalid configuration; the message names the section and key, the expected and the actual value."""


def load(kind: type[Config], file: Path | None, environment: Mapping[str, str]) -> Config:
    """Load a configuration from a TOML file and the environment; raises ConfigError.

    `kind` is a dataclass whose fields are sections, which are dataclasses too.
    """
    sections = _merged(_read(file) if file else {}, _from_environment(environment, kind))
    return _build(kind, sections, "")


def _read(file: Path) -> dict[str, object]:
    try:
        return tomllib.loads(file.read_text())
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {file}: {error}") from error


def _from_environment(environment: Mapping[str, str], kind: type) -> dict[str, object]:
    known = {field.name for field in dataclasses.fields(kind)}
    sections: dict[str, dict[str, str]] = {}
    for name, value in environment.items():
        section, separator, key = name.removeprefix(PREFIX).lower().partition("__")
        if name.startswith(PREFIX) and separator and section in known:
            sections.setdefault(section, {})[key] = value
    return dict(sections)


def _merged(file: dict[str, object], environment: dict[str, object]) -> dict[str, object]:
    merged = dict(file)
    for section, values in environment.items():
        below = merged.get(section, {})
        if isinstance(below, dict) and isinstance(values, dict):
            merged[section] = {**below, **values}
    return merged


def _build(kind: type[Config], values: object, place: str) -> Config:
    if not isinstance(values, Mapping):
        raise ConfigError(f"expected [{place}] to be a section, found {values!r}")
    hints = get_type_hints(kind)
    unknown = sorted(set(values) - set(hints))
    if unknown:
        raise ConfigError(f"unknown key {_name(place, unknown[0])}; known: {', '.join(sorted(hints))}")
    built = {key: _value(hints[key], value, _name(place, key)) for key, value in values.items()}
    try:
        return kind(**built)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"[{place}] {error}") from error


def _name(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _value(hint: object, value: object, name: str) -> object:
    if get_origin(hint) in (Union, UnionType):
        return _value(next(part for part in get_args(hint) if part is not type(None)), value, name)
    if get_origin(hint) is tuple:
        return _items(get_args(hint)[0], value, name)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _build(hint, value, name)
    if isinstance(hint, type):
        return _scalar(hint, value, name)
    raise ConfigError(f"{name} cannot be configured")


def _items(hint: object, value: object, name: str) -> tuple[object, ...]:
    items = [item.strip() for item in value.split(",") if item.strip()] if isinstance(value, str) else value
    if not isinstance(items, list):
        raise ConfigError(f"expected {name} to be a list, found {value!r}")
    return tuple(_value(hint, item, f"{name}[{index}]") for index, item in enumerate(items))


_WORDS = {"true": True, "false": False, "1": True, "0": False, "on": True, "off": False}


def _scalar(hint: type, value: object, name: str) -> object:
    """Convert text of the environment to the field's type; a TOML value must already have that type."""
    if hint is bool and isinstance(value, str) and value.lower() in _WORDS:
        return _WORDS[value.lower()]
    if hint is float and type(value) is int:
        return float(value)
    if isinstance(value, str) and (hint in (int, float) or issubclass(hint, StrEnum)):
        return _parsed(hint, value, name)
    if hint is Path and isinstance(value, str):
        return Path(value)
    if type(value) is not hint:
        raise ConfigError(f"expected {name} to be {hint.__name__}, found {value!r}")
    return value


def _parsed(hint: type, value: str, name: str) -> object:
    try:
        return hint(value)
    except ValueError:
        raise ConfigError(f"expected {name} to be {hint.__name__}, found {value!r}") from None
