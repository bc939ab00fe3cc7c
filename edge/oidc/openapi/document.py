"""The OpenAPI 3.1 document of the provider, built from its table of routes and the declarations of the handlers."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from edge.oidc.access.form import MEDIA_TYPE as FORM
from edge.oidc.access.request_policy import RequestPolicy
from edge.oidc.openapi.operation import JSON, Answer, Caller, Operation, Parameter, operation_of
from edge.oidc.openapi.schemas import INTEGER, OBJECT, STRING, Schema, an_object, request_of, with_any
from edge.oidc.prefix import PREFIX
from edge.problem import Handler

Row = tuple[str, RequestPolicy, Mapping[str, Handler]]

_TITLE = "Gnomon OpenID Provider"
_VERSION = "1"
_ABOUT = (
    "The protocol endpoints of OpenID Connect and OAuth 2.0, the pages of the sign-in, and administration. "
    f"The addresses below {PREFIX}/ are those of the default tenant; `x-tenant-path` is the address of another one."
)
_VARIABLE = re.compile(r"\{(\w+)(?::[^{}]*)?\}")
_TENANT = f"{PREFIX}/{{tenant}}"

_SECURITY: dict[Caller, list[Schema]] = {
    Caller.ANYBODY: [],
    Caller.ADMINISTRATOR: [{"accessToken": []}, {"apiKey": []}, {"session": []}],
    Caller.BROWSER: [{"session": []}],
    # A public client has no secret, and the form may have the credentials.
    Caller.CLIENT: [{"client": []}, {}],
    Caller.CLIENT_OR_TOKEN: [{"client": []}, {"accessToken": []}, {}],
    Caller.REGISTERED_CLIENT: [{"registrationAccessToken": []}],
    Caller.TOKEN: [{"accessToken": []}],
}
_SCHEMES: Schema = {
    "accessToken": {"type": "http", "scheme": "bearer", "description": "An access token of the provider."},
    "apiKey": {
        "type": "apiKey",
        "in": "header",
        "name": "Authorization",
        "description": "`API-Key ` and the secret of an API key.",
    },
    "client": {
        "type": "http",
        "scheme": "basic",
        "description": "Id and secret of a client. They may be members of the form instead, or an assertion.",
    },
    "registrationAccessToken": {
        "type": "http",
        "scheme": "bearer",
        "description": "The token that the registration of a client answered with: RFC 7592.",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "__Host-GnomonSession",
        "description": "The session of a browser. A change carries the header X-CSRF-Token as well.",
    },
}
_REFUSALS = {
    400: "The request is malformed.",
    401: "The credentials are absent, wrong or expired.",
    403: "The caller may not do this, or the request comes from a page of another site.",
    404: "There is no such tenant, or nothing with this name.",
    406: "The state of the account does not permit it.",
    409: "Another state is in the way.",
    412: "It was changed in the meantime.",
    413: "The body is too large.",
    415: "The upload is of another type.",
    429: "Too many requests; `Retry-After` says when to try again.",
    500: "The server has an error.",
    503: "The server is temporarily unavailable.",
}
_REFUSAL = with_any(
    an_object(error=STRING, message=STRING, timestamp=INTEGER), error_description=STRING, field=STRING
)


def render(rows: Sequence[Row]) -> str:
    """Write the document as pretty JSON; rows without declared operations are addresses without an endpoint."""
    components = _Components()
    paths = _paths(rows, components)
    tags = sorted({tag for methods in paths.values() for tag in _tags(methods)})
    document = {
        "openapi": "3.1.0",
        "info": {"title": _TITLE, "version": _VERSION, "description": _ABOUT},
        "servers": [{"url": "/"}],
        "tags": [{"name": tag} for tag in tags],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(components.schemas.items())),
            "responses": {_refusal_name(status): _refusal(status) for status in _REFUSALS},
            "securitySchemes": _SCHEMES,
        },
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode() + "\n"


def address_of(path: str) -> str:
    """Return the path of a route as OpenAPI writes it."""
    return _VARIABLE.sub(r"{\1}", path)


def _tags(methods: Schema) -> Iterator[str]:
    for operation in methods.values():
        if isinstance(operation, dict):
            yield from operation["tags"]


def _paths(rows: Sequence[Row], components: "_Components") -> dict[str, Schema]:
    described = {
        address_of(path): (policy, handlers) for path, policy, handlers in rows if _has_any(handlers)
    }
    paths: dict[str, Schema] = {}
    for path, (policy, handlers) in described.items():
        own = _of_default_tenant(path)
        if own in described and own != path:
            continue
        found = {
            method.lower(): _Described(
                path, method, policy, operation, operation.tag or _tag(handler)
            ).schema(components)
            for method, handler in handlers.items()
            if (operation := operation_of(handler)) is not None
        }
        of_tenants = [other for other in described if other != path and _of_default_tenant(other) == path]
        paths[path] = {**found, **({"x-tenant-path": of_tenants[0]} if of_tenants else {})}
    return dict(sorted(paths.items()))


def _has_any(handlers: Mapping[str, Handler]) -> bool:
    return any(operation_of(handler) is not None for handler in handlers.values())


def _of_default_tenant(path: str) -> str:
    return path.replace(_TENANT, PREFIX, 1)


def _tag(handler: Handler) -> str:
    """Return the module of a handler in words."""
    words = handler.__module__.rpartition(".")[2].replace("_", " ")
    return words[0].upper() + words[1:]


class _Components:
    """Schemas that operations refer to."""

    def __init__(self) -> None:
        self.schemas: dict[str, Schema] = {"Refusal": _REFUSAL}

    def moved(self, value: object, tag: str) -> object:
        """Return a schema with references in place of what has a title."""
        match value:
            case {"title": str(title), **schema}:
                return self._reference(title, self._moved_members(schema, tag), tag)
            case dict():
                # The properties of an object, of which one may have the name `title`, or a schema without a title.
                return self._moved_members(value, tag)
            case list():
                return [self.moved(each, tag) for each in value]
            case _:
                return value

    def _moved_members(self, members: Mapping[Any, object], tag: str) -> Schema:
        return {name: self.moved(each, tag) for name, each in members.items()}

    def _reference(self, title: str, schema: Schema, tag: str) -> Schema:
        own = f"{''.join(word.capitalize() for word in tag.split())}{title}"
        name = next(
            each
            for each in (title, own, *(f"{own}{number}" for number in range(2, 10)))
            if self.schemas.get(each, schema) == schema
        )
        self.schemas[name] = schema
        return {"$ref": f"#/components/schemas/{name}"}


@dataclass(frozen=True, slots=True)
class _Described:
    path: str
    method: str
    policy: RequestPolicy
    operation: Operation
    tag: str

    def schema(self, components: _Components) -> Schema:
        operation = self.operation
        return {
            "operationId": self._id(),
            "tags": [self.tag],
            "summary": operation.summary,
            "security": _SECURITY[operation.caller],
            "parameters": list(self._parameters()),
            **self._request_body(components),
            "responses": dict(sorted(self._responses(components).items())),
        }

    def _id(self) -> str:
        begin = [] if self.path.startswith(PREFIX) else ["host"]
        words = re.findall(r"[A-Za-z0-9]+", self.path.removeprefix(PREFIX))
        end = ["slash"] if self.path.endswith("/") else []
        return self.method.lower() + "".join(word[0].upper() + word[1:] for word in (*begin, *words, *end))

    def _parameters(self) -> Iterator[Schema]:
        for name in _VARIABLE.findall(self.path):
            yield {"name": name, "in": "path", "required": True, "schema": STRING}
        for place, parameters in (("query", self.operation.query), ("header", self.operation.headers)):
            for parameter in parameters:
                yield {
                    "name": parameter.name,
                    "in": place,
                    "required": parameter.is_required,
                    "description": parameter.text,
                    "schema": parameter.schema,
                }

    def _request_body(self, components: _Components) -> Schema:
        operation = self.operation
        content: Schema = {media_type: {} for media_type in operation.upload}
        if operation.body is not None:
            content[JSON] = {"schema": components.moved(request_of(operation.body), self.tag)}
        if operation.form:
            content[FORM] = {"schema": _form(operation.form)}
        if not content:
            return {}
        return {"requestBody": {"required": not operation.has_optional_body, "content": content}}

    def _responses(self, components: _Components) -> Schema:
        responses: Schema = {
            str(status): {"$ref": f"#/components/responses/{_refusal_name(status)}"}
            if self.policy.refusal_type == JSON
            else _refusal(status, self.policy.refusal_type)
            for status in self._refusals()
        }
        for status in sorted({answer.status for answer in self.operation.answers}):
            answers = [answer for answer in self.operation.answers if answer.status == status]
            responses[str(status)] = _success(answers, components, self.tag)
        return responses

    def _refusals(self) -> set[int]:
        operation = self.operation
        if self.policy.is_static:
            return set(operation.refusals)
        return {
            *(400, 403, 404, 429, 500, 503),
            *(() if operation.caller is Caller.ANYBODY else (401,)),
            *((413,) if operation.body or operation.form or operation.upload else ()),
            *operation.refusals,
        }


def _form(parameters: Sequence[Parameter]) -> Schema:
    required = [parameter.name for parameter in parameters if parameter.is_required]
    return {
        **OBJECT,
        "properties": {
            parameter.name: {**parameter.schema, "description": parameter.text} for parameter in parameters
        },
        **({"required": required} if required else {}),
    }


def _success(answers: Sequence[Answer], components: _Components, tag: str) -> Schema:
    headers = {name: text for answer in answers for name, text in answer.headers.items()}
    content = {
        answer.media_type: {"schema": components.moved(answer.schema, tag)}
        for answer in answers
        if answer.media_type
    }
    return {
        "description": " ".join(dict.fromkeys(answer.text for answer in answers)),
        **(
            {"headers": {name: {"description": text, "schema": STRING} for name, text in headers.items()}}
            if headers
            else {}
        ),
        **({"content": content} if content else {}),
    }


def _refusal_name(status: int) -> str:
    return f"Refusal{status}"


def _refusal(status: int, other_type: str = "text/html") -> Schema:
    """Describe an error: JSON, with the members of RFC 6749 §5.2 at protocol endpoints, or a page for a browser.

    Endpoints of other standards answer in their own type, and in JSON before the request reaches them.
    """
    other = STRING if other_type == "text/html" else OBJECT
    content = {JSON: {"schema": {"$ref": "#/components/schemas/Refusal"}}, other_type: {"schema": other}}
    return {"description": _REFUSALS[status], "content": content}
