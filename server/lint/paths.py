"""The path language of rules, for elements and values.

An element path is a tag (`zeebe:input` at any depth of the extensions, other tags among the children),
`incoming`, `outgoing`, `eventDefinition` for event definitions of any kind, `expression` for boxed
expressions of any kind, or `*` for all descendants but extensions.
A filter can follow: `[none]` (no event definition), `[attribute=value]`, `[@attribute]` (not blank), or
`[child]`.

A value path is `attribute`, a child's tag for its text, `text()` for the element's own text, or
`element@attribute`. `+` joins several attributes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from server.bpmn.extensions import PREFIX
from server.bpmn.model import EVENT_DEFINITION
from server.dmn import EXPRESSION_TAGS
from server.lint.subject import Subject
from server.xml import Markup

_BOOLEANS: Mapping[str, str] = {"1": "true", "0": "false"}  # other spellings of xs:boolean

_OWN_TEXT = "text()"


@dataclass(frozen=True, slots=True)
class Value:
    """A value and its element; `text` is None if the attribute is missing."""

    at: Markup
    text: str | None


def elements(subject: Subject, path: str) -> Iterator[Markup]:
    name, _, condition = path.removesuffix("]").partition("[")
    found = _elements(subject, name)
    return (element for element in found if _fits(element, condition)) if condition else found


def is_at(element: Markup, path: str) -> bool:
    """Whether the tag and the filter of a path are those of an element."""
    name, _, condition = path.removesuffix("]").partition("[")
    return element.tag == name and (not condition or _fits(element, condition))


def values(subject: Subject, path: str) -> Iterator[Value]:
    name, _, attributes = path.rpartition("@")
    owners = elements(subject, name) if name else iter((subject.markup,))
    return (Value(owner, _text(owner, attributes)) for owner in owners)


def written(subject: Subject, path: str) -> Iterator[tuple[Markup, str]]:
    """Yield the values that are present, with their elements."""
    if (
        path.isalpha()
    ):  # fast path for one attribute or child of the element itself, the common case in decision tables
        text = _single(subject.markup, path)
        return iter(()) if text is None else iter(((subject.markup, text),))
    return ((value.at, value.text) for value in values(subject, path) if value.text is not None)


def _elements(subject: Subject, name: str) -> Iterator[Markup]:
    if name in {"incoming", "outgoing"}:
        return _flows(subject, name)
    if name == "eventDefinition":
        return (child for child in subject.markup.children if child.tag.endswith(EVENT_DEFINITION))
    if name == "expression":
        return (child for child in subject.markup.children if child.tag in EXPRESSION_TAGS)
    if name == "*":
        return (element for element in subject.markup.descendants() if not element.tag.startswith(PREFIX))
    if name.startswith(PREFIX):
        return _extensions(subject.markup, name)
    return iter(subject.markup.all(name))


def _extensions(element: Markup, tag: str) -> Iterator[Markup]:
    container = element.first("extensionElements")
    if container is None:
        return iter(())
    return (extension for extension in container.descendants() if extension.tag == tag)


def _flows(subject: Subject, direction: str) -> Iterator[Markup]:
    if subject.scope is None:
        return iter(())
    flows = subject.scope.incoming if direction == "incoming" else subject.scope.outgoing
    return (flow.markup for flow in flows.get(subject.element_id, ()))


def _fits(element: Markup, condition: str) -> bool:
    if condition == "none":
        return not any(child.tag.endswith(EVENT_DEFINITION) for child in element.children)
    if condition.startswith("@"):
        return bool(element.attributes.get(condition[1:], "").strip())
    name, is_value, wanted = condition.partition("=")
    if not is_value:
        return element.first(name) is not None
    found = element.attributes.get(name, "").strip()
    return _BOOLEANS.get(found, found) == wanted


def _text(owner: Markup, attributes: str) -> str | None:
    texts = [_single(owner, name) for name in attributes.split("+")]
    return texts[0] if len(texts) == 1 else " + ".join(text or "" for text in texts)


def _single(owner: Markup, name: str) -> str | None:
    if name == _OWN_TEXT:
        return owner.text
    if name in owner.attributes:
        return owner.attributes[name]
    child = owner.first(name)
    return None if child is None else child.text
