"""Parameters of a query, which are fields of a request of administration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from aiohttp import web
from google.protobuf.descriptor import FieldDescriptor

from edge.fields import Kind, enum_of, kind_of, rule_of, texts_of, words_of
from edge.oidc.access.administration_calls import page_asked
from edge.oidc.access.body import bad_request
from edge.oidc.openapi.operation import PAGE, Parameter, may
from edge.oidc.openapi.schemas import STRING, choice

PAGE_SIZE = "page_size"
_OF_PAGE = frozenset({PAGE_SIZE, "continuation_token"})
# Lists refuse these with a text of their own.
_REFUSED = frozenset({"offset", "backwards"})


class Query:
    """Reads parameters; `is_strict` refuses those that would be without effect."""

    def __init__(self, fields: Sequence[FieldDescriptor], *, is_strict: bool) -> None:
        self._parameters = [_parameter(field) for field in fields if field.name not in _OF_PAGE]
        self._has_pages = PAGE_SIZE in (field.name for field in fields)
        self._known = frozenset(parameter.name for parameter in self._parameters)
        if self._has_pages:
            self._known |= _OF_PAGE | _REFUSED
        self._is_strict = is_strict

    def described(self) -> Sequence[Parameter]:
        return (
            *(parameter.described() for parameter in self._parameters),
            *(PAGE if self._has_pages else ()),
        )

    def read(self, request: web.Request, asked: Any) -> None:
        """Set the fields of a request; raises Refused."""
        if self._has_pages:
            size, token = page_asked(request)
            asked.page_size = size
            asked.continuation_token = token
        if self._is_strict:
            self._expect_effect(request)
        for parameter in self._parameters:
            setattr(asked, parameter.field, parameter.value(request))

    def _expect_effect(self, request: web.Request) -> None:
        query = request.query
        if unknown := sorted(query.keys() - self._known):
            raise bad_request(f"{unknown[0]}: unknown parameter")
        if repeated := sorted(name for name in query if len(query.getall(name)) > 1):
            raise bad_request(f"{repeated[0]}: expected once")


@dataclass(frozen=True, slots=True)
class _Parameter:
    """`choices` are the values by their texts, empty for any text. `absent` is the text that an absent parameter means."""

    name: str
    field: str
    text: str
    choices: Mapping[str, object]
    absent: str

    def described(self) -> Parameter:
        texts = filter(None, self.choices)
        return may(self.name, self.text, choice(*sorted(texts)) if self.choices else STRING)

    def value(self, request: web.Request) -> object:
        text = request.query.get(self.name, self.absent)
        if not self.choices and not text.isprintable():
            raise bad_request(f"{self.name}: expected printable characters")
        if not self.choices:
            return text
        if text not in self.choices:
            raise bad_request(f"{self.name}: expected {_either([*filter(None, self.choices)])}")
        return self.choices[text]


def _parameter(field: FieldDescriptor) -> _Parameter:
    rule, choices = rule_of(field), _choices(field)
    absent = orjson.loads(rule.absent) if rule.absent else next(iter(choices), "")
    return _Parameter(rule.member or field.name, field.name, rule.text, choices, absent)


def _choices(field: FieldDescriptor) -> Mapping[str, object]:
    """Return the values by their texts, the value of an absent parameter first; raises TypeError for other kinds."""
    match kind_of(field):
        case Kind.BOOLEAN:
            false, true = rule_of(field).words or ("false", "true")
            return {false: False, true: True}
        case Kind.ENUM:
            return words_of(enum_of(field))
        case Kind.STRING:
            return {text: text for text in texts_of(field)}
        case other:
            raise TypeError(f"{field.full_name}: no parameter of administration is a {other}")


def _either(texts: Sequence[str]) -> str:
    *others, last = texts
    return f"{', '.join(others)} or {last}" if others else last
