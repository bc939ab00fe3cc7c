"""Declaration of an HTTP operation of the provider, beside its handler.

The method and the address are in the table of routes alone. A test finds handlers without a declaration.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

import msgspec

from edge.oidc.openapi.schemas import INTEGER, STRING, Schema

JSON = "application/json"
_OPERATION = "operation"

_Handler = TypeVar("_Handler", bound=Callable[..., object])


class Caller(StrEnum):
    """Credentials that an operation takes."""

    ANYBODY = "anybody"
    ADMINISTRATOR = "administrator"
    BROWSER = "browser"
    CLIENT = "client"
    CLIENT_OR_TOKEN = "client or token"  # noqa: S105  # kinds of credentials
    REGISTERED_CLIENT = "registered client"
    TOKEN = "token"  # noqa: S105  # a kind of credential


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    text: str
    schema: Schema = field(default_factory=lambda: STRING)
    is_required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A response; without a media type it has no body."""

    status: int
    text: str
    media_type: str = ""
    schema: Schema = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """`body` is a JSON object, `form` the members of a form; an operation with both takes either.

    `refusals` are the statuses besides those of every operation with such a caller, body and path. `tag` is the group of
    the operation, by default the module of its handler.
    """

    summary: str
    answers: Sequence[Answer]
    caller: Caller
    body: type[msgspec.Struct] | None = None
    has_optional_body: bool = False
    upload: Sequence[str] = ()
    form: Sequence[Parameter] = ()
    query: Sequence[Parameter] = ()
    headers: Sequence[Parameter] = ()
    refusals: Sequence[int] = ()
    tag: str = ""


def described(  # the parts of an operation
    summary: str,
    *answers: Answer,
    caller: Caller = Caller.ADMINISTRATOR,
    body: type[msgspec.Struct] | None = None,
    has_optional_body: bool = False,
    upload: Sequence[str] = (),
    form: Sequence[Parameter] = (),
    query: Sequence[Parameter] = (),
    headers: Sequence[Parameter] = (),
    refusals: Sequence[int] = (),
    tag: str = "",
) -> Callable[[_Handler], _Handler]:
    """Declare the operation of a handler."""
    operation = Operation(
        summary=summary,
        answers=answers,
        caller=caller,
        body=body,
        has_optional_body=has_optional_body,
        upload=upload,
        form=form,
        query=query,
        headers=headers,
        refusals=refusals,
        tag=tag,
    )

    def declare(handler: _Handler) -> _Handler:
        vars(handler)[_OPERATION] = operation
        return handler

    return declare


def operation_of(handler: Callable[..., object]) -> Operation | None:
    """Return the declaration of a handler, which may be a method of an object."""
    found: Operation | None = getattr(handler, _OPERATION, None)
    return found


def needs(name: str, text: str, schema: Schema = STRING) -> Parameter:
    return Parameter(name, text, schema, is_required=True)


def may(name: str, text: str, schema: Schema = STRING) -> Parameter:
    return Parameter(name, text, schema)


def content(
    schema: Schema | None = None, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Answer:
    """Declare a JSON body, an object of any form without a schema."""
    return Answer(
        status=status,
        text="Done.",
        media_type=JSON,
        schema={"type": "object"} if schema is None else schema,
        headers=headers or {},
    )


def paged(schema: Schema) -> Answer:
    """Declare a page of a list; the caller asks for the next one with the continuation token."""
    headers = {
        "x-page-size": "The size of a page.",
        "x-continuation-token": "Of the next page, if there is one.",
    }
    return content(schema, status=206, headers=headers)


def done(status: int = 200, text: str = "Done; there is no body.") -> Answer:
    return Answer(status=status, text=text)


def plain(text: str, *, media_type: str = "text/plain", status: int = 200) -> Answer:
    """Declare a body that is a text."""
    return Answer(status=status, text=text, media_type=media_type, schema=STRING)


def page(text: str, *, status: int = 200) -> Answer:
    return Answer(status=status, text=text, media_type="text/html", schema=STRING)


def redirect(text: str, *, status: int = 302) -> Answer:
    return Answer(status=status, text=text, headers={"Location": "Address to continue at."})


UNCHANGED = Answer(
    status=304, text="The caller has it already.", headers={"ETag": "Entity tag of the content."}
)

PAGE = (
    may("page_size", "Number of entries, 1000 at most.", INTEGER),
    may("continuation_token", "Of the page before."),
)
