"""Reads forms from untrusted bytes: size, depth and number of components are limited.

Components become markup, like XML elements, so that lint rules apply to both.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from server.xml import Markup

MAX_BYTES: Final = 1024 * 1024
MAX_DEPTH: Final = 64
MAX_COMPONENTS: Final = 2_000

# Members of a component whose own members are values of the component.
_GROUPS = ("conditional", "validate")

_decode = msgspec.json.Decoder().decode


class FormReadError(ValueError):
    """The bytes are not a JSON object in UTF-8, or exceed a limit."""


@dataclass(frozen=True, slots=True)
class Form:
    """A form as in its file.

    `markup` has every text, number and boolean member as an attribute. Its children are the components, with
    their types as tags; a component's `key` is the full path of its value.
    """

    id: str
    version_tag: str | None
    schema: str
    markup: Markup


def read(content: bytes) -> Form:
    """Read a form; raises FormReadError. A missing, blank or non-text id becomes empty."""
    if len(content) > MAX_BYTES:
        raise FormReadError(f"expected at most {MAX_BYTES} bytes, found {len(content)}")
    document = _object(content)
    _expect_shallow(document)
    components = tuple(_components(document, ""))
    count = sum(1 + sum(1 for _ in component.descendants()) for component in components)
    if count > MAX_COMPONENTS:
        raise FormReadError(f"expected at most {MAX_COMPONENTS} components, found {count}")
    form_id, version_tag = _text(document, "id") or "", _text(document, "versionTag")
    attributes = {**_texts(document), "id": form_id, "versionTag": version_tag or ""}
    return Form(form_id, version_tag, content.decode(), Markup("form", attributes, components))


def _object(content: bytes) -> Mapping[str, object]:
    try:
        document = _decode(content)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise FormReadError(f"expected a JSON object: {error}") from error
    if not isinstance(document, dict):
        raise FormReadError("expected a JSON object, found another value")
    return document


def _expect_shallow(document: object) -> None:
    level = [document]
    for _ in range(MAX_DEPTH):
        level = [child for parent in level for child in _children(parent)]
        if not level:
            return
    raise FormReadError(f"expected at most {MAX_DEPTH} levels of nesting")


def _children(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _components(parent: Mapping[str, object], path: str) -> Iterator[Markup]:
    """Yield the components of a form, group or dynamic list, whose values are at this path."""
    found = parent.get("components")
    for component in found if isinstance(found, list) else ():
        if isinstance(component, dict):
            texts = dict(_texts(component))
            inside = ".".join(filter(None, (path, _text(component, "path"))))
            if texts.get("key"):
                texts["key"] = ".".join(filter(None, (path, texts["key"])))
            yield Markup(texts.pop("type", ""), texts, tuple(_components(component, inside)))


def _text(document: Mapping[str, object], name: str) -> str | None:
    value = document.get(name)
    return value if isinstance(value, str) and value.strip() else None


def _texts(component: Mapping[str, object]) -> Mapping[str, str]:
    """Return a component's values, with the path as name for those in groups."""
    texts = dict(_values(component, ""))
    for name in _GROUPS:
        group = component.get(name)
        if isinstance(group, dict):
            texts.update(_values(group, f"{name}."))
    return texts


def _values(members: Mapping[str, object], prefix: str) -> Iterator[tuple[str, str]]:
    for name, value in members.items():
        if isinstance(value, str):
            yield prefix + name, value
        elif isinstance(value, bool):
            yield prefix + name, "true" if value else "false"
        elif isinstance(value, int | float):
            yield prefix + name, str(value)
