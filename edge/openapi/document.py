"""The OpenAPI document of the whole contract."""

from collections.abc import Iterable
from http import HTTPStatus

import orjson
from google.protobuf.descriptor import Descriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from edge.config import Release
from edge.contract import Route, routes
from edge.openapi.bounds import Schema
from edge.openapi.comments import comments_of
from edge.openapi.operations import operation, problem_name, tag_of
from edge.openapi.schemas import Schemas
from edge.problem import MEDIA_TYPE
from server.platform.call import MAX_IDEMPOTENCY_KEY
from server.platform.errors import PROBLEMS
from server.platform.policy import Mode, wire_path

_TITLE = "Gnomon"
# Version of the proto packages.
_VERSION = "1"
# Values that gRPC metadata can carry.
_PRINTABLE = "^[ -~]*$"
_NO_COMMENTS = FileDescriptorSet()

_REPEATABLE = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
_RETRY_AFTER: Schema = {
    "Retry-After": {
        "description": "Seconds after which the same request may succeed, where they are known.",
        "schema": {"type": "integer", "minimum": 0},
    }
}

_PARAMETERS: Schema = {
    "TenantId": {
        "name": "x-tenant-id",
        "in": "header",
        "required": False,
        "description": "Tenant to act in; a principal of one tenant may leave it out.",
        "schema": {"type": "string", "minLength": 1, "pattern": _PRINTABLE},
    },
    "IdempotencyKey": {
        "name": "Idempotency-Key",
        "in": "header",
        "required": False,
        "description": "A repeat with the same key and body answers as the first call did.",
        "schema": {"type": "string", "minLength": 1, "maxLength": MAX_IDEMPOTENCY_KEY, "pattern": _PRINTABLE},
    },
    "IfNoneMatch": {
        "name": "If-None-Match",
        "in": "header",
        "required": False,
        "description": "Entity tags of what the caller has; it is not sent again.",
        "schema": {"type": "string", "pattern": _PRINTABLE},
    },
    "Range": {
        "name": "Range",
        "in": "header",
        "required": False,
        "description": "Part of the bytes to send, `bytes=first-last`.",
        "schema": {"type": "string", "pattern": _PRINTABLE},
    },
}

# A caller needs one of them.
_SECURITY_SCHEMES: Schema = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "An access token of the provider."},
    "client": {
        "type": "oauth2",
        "description": "The viewer gets the access token of a client with the client's id and secret.",
        "flows": {"clientCredentials": {"tokenUrl": "/auth/v1/oidc/token", "scopes": {}}},
    },
}


def render(descriptors: FileDescriptorSet = _NO_COMMENTS, *, release: Release = Release.CAMUNDA_8_9) -> str:
    """Write the document as pretty JSON; descriptions are the comments that the descriptors carry."""
    every = routes()
    schemas = Schemas(
        comments_of(descriptors), [answer for route in every if (answer := _answer(route))], release
    )
    document = {
        "openapi": "3.1.0",
        "info": {"title": _TITLE, "version": _VERSION},
        "servers": [{"url": "/"}],
        "tags": _tags(every, schemas),
        "paths": _paths(every, schemas),
        "components": _components(schemas),
        "security": [{scheme: []} for scheme in _SECURITY_SCHEMES],
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode() + "\n"


def _answer(route: Route) -> Descriptor | None:
    """Return the message that the response body is, if it is one."""
    if route.response_field is not None:
        return route.response_field.message_type
    return route.policy.descriptor.output_type


def _paths(every: Iterable[Route], schemas: Schemas) -> Schema:
    paths: dict[str, Schema] = {}
    for route in every:
        paths.setdefault(wire_path(route.path, route.policy.descriptor.input_type), {})[
            route.method.lower()
        ] = operation(route, schemas)
    return dict(sorted(paths.items()))


def _tags(every: Iterable[Route], schemas: Schemas) -> list[Schema]:
    services = {tag_of(route.policy): route.policy.descriptor.containing_service for route in every}
    return [
        {"name": tag, **schemas.description(service.full_name)} for tag, service in sorted(services.items())
    ]


def _components(schemas: Schemas) -> Schema:
    return {
        "schemas": dict(sorted({**schemas.components, "Problem": _problem_schema()}.items())),
        "parameters": _PARAMETERS,
        "responses": {problem_name(status): _problem_response(status) for status in _statuses()},
        "securitySchemes": _SECURITY_SCHEMES,
    }


def _problem_schema() -> Schema:
    return {
        "type": "object",
        "description": "Why a request was refused (RFC 9457).",
        "properties": {
            "type": {"type": "string", "enum": sorted({problem.type for problem in PROBLEMS.values()})},
            "title": {"type": "string"},
            "status": {"type": "integer", "minimum": 400, "maximum": 599},
            "detail": {"type": "string"},
            "instance": {"type": "string", "description": "Path of the request."},
            "mode": {
                "type": "string",
                "description": "Only where the mode is the reason.",
                "enum": sorted(Mode),
            },
        },
        "required": ["type", "title", "status", "detail", "instance"],
        "additionalProperties": False,
    }


def _problem_response(status: int) -> Schema:
    types = sorted({problem.type for problem in PROBLEMS.values() if problem.status == status})
    return {
        "description": f"Refused: {', '.join(types)}.",
        **({"headers": _RETRY_AFTER} if status in _REPEATABLE else {}),
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }


def _statuses() -> list[int]:
    return sorted({problem.status for problem in PROBLEMS.values()})
