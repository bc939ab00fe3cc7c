"""Routes as OpenAPI operations."""

from collections.abc import Iterator

from google.protobuf.descriptor import FieldDescriptor

from edge.contract import JSON, BodyForm, Route
from edge.fields import Kind, is_optional_value, kind_of, message_of
from edge.openapi.bounds import Schema, is_required, list_bounds
from edge.openapi.schemas import Schemas
from edge.problem import MEDIA_TYPE as PROBLEM
from edge.transcode.multipart import MEDIA_TYPE as MULTIPART
from server.platform.errors import PROBLEMS
from server.platform.policy import Mode, Policy

_FILE: Schema = {"type": "string", "contentMediaType": "application/octet-stream"}
_TEXT: Schema = {"schema": {"type": "string"}}
_ETAG: Schema = {"ETag": {"schema": {"type": "string"}, "description": "Tells this content from any other."}}


def operation(route: Route, schemas: Schemas) -> Schema:
    policy = route.policy
    return {
        "operationId": route.operation_id,
        "tags": [tag_of(policy)],
        **_texts(policy, schemas),
        **({"security": []} if not policy.needs_principal else {}),
        **({"x-permission": policy.permission} if policy.permission else {}),
        **({"x-modes": sorted(policy.modes)} if policy.modes < frozenset(Mode) else {}),
        "parameters": list(_parameters(route, schemas)),
        **_request_body(route, schemas),
        "responses": _successes(route, schemas)
        | {str(status): _problem(status) for status in _refusals(route)},
    }


def tag_of(policy: Policy) -> str:
    return policy.descriptor.containing_service.name.removesuffix("Service")


def _texts(policy: Policy, schemas: Schemas) -> Schema:
    texts = schemas.description(policy.descriptor.full_name)
    if texts:
        texts["summary"] = str(texts["description"]).splitlines()[0].rstrip(".")
    return texts


def _parameters(route: Route, schemas: Schemas) -> Iterator[Schema]:
    for field in route.path_fields:
        yield {**_parameter(field, schemas), "in": "path", "required": True}
    for field in route.query_fields:
        yield {**_parameter(field, schemas), "in": "query", "required": is_required(field)}
    if route.policy.needs_principal:
        yield {"$ref": "#/components/parameters/TenantId"}
    if route.policy.is_command:
        yield {"$ref": "#/components/parameters/IdempotencyKey"}
    if route.etag_field is not None:
        yield {"$ref": "#/components/parameters/IfNoneMatch"}
    if route.download_field is not None:
        yield {"$ref": "#/components/parameters/Range"}


def _parameter(field: FieldDescriptor, schemas: Schemas) -> Schema:
    return {
        "name": field.json_name,
        **schemas.description(field.full_name),
        "schema": schemas.parameter(field),
    }


def _request_body(route: Route, schemas: Schemas) -> Schema:
    if route.body is BodyForm.NONE:
        return {}
    is_multipart = route.body is BodyForm.MULTIPART
    schema = _form(route, schemas) if is_multipart else _body(route, schemas)
    return {
        "requestBody": {
            "content": {MULTIPART if is_multipart else JSON: {"schema": schema}},
            "required": any(map(is_required, route.body_fields)),
        }
    }


def _body(route: Route, schemas: Schemas) -> Schema:
    if route.body is BodyForm.FIELD:
        return schemas.request_property(route.body_fields[0])
    return schemas.request(route.policy.descriptor.input_type, route.body_fields)


def _form(route: Route, schemas: Schemas) -> Schema:
    fields = route.body_fields
    return {
        "type": "object",
        "properties": {field.json_name: _form_part(field, schemas) for field in fields},
        "required": [field.json_name for field in fields if is_required(field)],
        "additionalProperties": False,
    }


def _form_part(field: FieldDescriptor, schemas: Schemas) -> Schema:
    description = schemas.description(field.full_name)
    if kind_of(field) is not Kind.MESSAGE:
        return schemas.parameter(field) | description
    part = _FILE if _is_file(field) else schemas.request(message_of(field), message_of(field).fields)
    if field.is_repeated:
        return {"type": "array", "items": part, **list_bounds(field), **description}
    return part | description


def _is_file(field: FieldDescriptor) -> bool:
    return {"name", "content"} <= set(message_of(field).fields_by_name)


def _successes(route: Route, schemas: Schemas) -> dict[str, Schema]:
    field, response = route.response_field, route.policy.descriptor.output_type
    nothing: dict[str, Schema] = {
        str(route.empty_status): {"description": "Done; there is nothing to answer with."}
    }
    if not response.fields:
        return nothing
    if route.download_field is not None:
        return _downloads(route)
    schema = _whole(field, schemas) if field else schemas.answer(response)
    content: Schema = {route.media_type: {"schema": schema}}
    success: dict[str, Schema] = {str(route.status): {"description": "Done.", "content": content}}
    if route.failures_field is not None:
        success["207"] = {"description": "Some of it failed.", "content": content}
    if route.etag_field is not None:
        success[str(route.status)]["headers"] = _ETAG
        success["304"] = {"description": "The caller has it already.", "headers": _ETAG}
    return success | nothing if field and is_optional_value(field) else success


def _downloads(route: Route) -> dict[str, Schema]:
    """Describe bytes, of which a part may be asked for."""
    bytes_: Schema = {"content": {route.media_type: {}}}
    headers: Schema = {"Content-Disposition": _TEXT, "Accept-Ranges": _TEXT}
    etag = _ETAG if route.etag_field is not None else {}
    end: Schema = {"Content-Range": _TEXT}
    found: dict[str, Schema] = {
        str(route.status): {"description": "All bytes.", "headers": headers | etag, **bytes_},
        "206": {"description": "The bytes asked for.", "headers": headers | etag | end, **bytes_},
        "416": {**_refusal("There are no such bytes."), "headers": end},
    }
    if route.etag_field is not None:
        found["304"] = {"description": "The caller has it already.", "headers": etag}
    return found


def _whole(field: FieldDescriptor, schemas: Schemas) -> Schema:
    """Describe a field that is the whole response body and therefore never null."""
    if kind_of(field) is Kind.MESSAGE and not field.is_repeated:
        return schemas.answer(message_of(field))
    schema = schemas.answer_property(field)
    kind = schema.get("type")
    return {**schema, "type": kind[0]} if isinstance(kind, list) else schema


def _refusal(description: str) -> Schema:
    return {
        "description": description,
        "content": {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }


def _problem(status: int) -> Schema:
    return {"$ref": f"#/components/responses/{problem_name(status)}"}


def problem_name(status: int) -> str:
    return f"Problem{status}"


def _refusals(route: Route) -> list[int]:
    """Return the statuses of every rejection of the operation."""
    return sorted({PROBLEMS[reason].status for reason in _reasons(route)})


def _reasons(route: Route) -> Iterator[str]:
    policy = route.policy
    yield from ("INVALID_ARGUMENT", "INTERNAL", "UNAVAILABLE", *policy.rejections)
    if policy.needs_principal:
        yield from ("UNAUTHENTICATED", "PERMISSION_DENIED")
    if policy.modes < frozenset(Mode):
        yield "MODE_NOT_SUPPORTED"
    if policy.is_search:
        yield "QUOTA_EXHAUSTED"
    if policy.is_command:
        yield "IDEMPOTENCY_CONFLICT"
    if route.body is not BodyForm.NONE:
        yield "PAYLOAD_TOO_LARGE"
    if any(kind_of(field) is Kind.KEY for field in route.path_fields):
        yield "NOT_FOUND"
