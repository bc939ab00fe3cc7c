"""Several operations in one request: RFC 7644 §3.7. Each runs independently, with the right that it needs.

An operation that refers to a later one waits for it. Operations that wait for each other are refused.
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus

import msgspec

from identity.people.provisioning.answers import Answer
from identity.people.provisioning.documents import Members, an_object, expect_schema, member, read
from identity.people.provisioning.members import Budget
from identity.people.provisioning.operation import Operation
from identity.people.provisioning.refusals import ScimType, refusal
from server.platform.errors import AlreadyExists, ServiceError

BULK_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:BulkRequest"
RESPONSE_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:BulkResponse"
ERROR_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:Error"

MOST_OPERATIONS = 100
MOST_BYTES = 1_048_576
_MOST_DEPTH = 32

_REFERENCE = "bulkId:"
_BULK_ID = re.compile(r"bulkId:([^/\s]+)")
_PATH = re.compile(r"/(Users|Groups)(?:/([^/]+))?")
_METHODS = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_PRECONDITION_FAILED = "OTHER_ETAG"


Run = Callable[[Operation], Awaitable[Answer | None]]


@dataclass(slots=True)
class _Entry:
    """`references` are the ids of the operations that this one refers to."""

    sent: Members
    references: frozenset[str]
    result: Members | None = None


async def run_all(document: bytes, run: Run) -> Members:
    """Return the results in the order of the operations; raises InvalidArgument for a malformed request."""
    members = read(document)
    expect_schema(members, BULK_SCHEMA)
    operations = member(members, "Operations")
    if not isinstance(operations, list):
        raise refusal(ScimType.INVALID_SYNTAX, "Operations: expected a list")
    if len(operations) > MOST_OPERATIONS:
        raise refusal(ScimType.TOO_MANY, f"Operations: expected at most {MOST_OPERATIONS}")
    limit = member(members, "failOnErrors")
    most_failures = limit if isinstance(limit, int) and limit > 0 else len(operations) + 1
    sent = map(an_object, operations)
    entries = [_Entry(operation, frozenset(_references(operation))) for operation in sent]
    await _run_entries(entries, run, most_failures)
    return {
        "schemas": [RESPONSE_SCHEMA],
        "Operations": [entry.result for entry in entries if entry.result is not None],
    }


async def _run_entries(entries: list[_Entry], run: Run, most_failures: int) -> None:
    budget, made, failures = Budget(), dict[str, str](), 0
    while waiting := [entry for entry in entries if entry.result is None]:
        ready = (entry for entry in waiting if entry.references <= made.keys())
        # Operations that wait for a resource that is never created fail one by one.
        entry = next(ready, waiting[0])
        entry.result, answer = await _result(entry.sent, made, budget, run)
        bulk_id = member(entry.sent, "bulkId")
        if answer is not None and isinstance(bulk_id, str):
            made[bulk_id] = answer.location.rpartition("/")[2]
        failures += "response" in entry.result
        if failures >= most_failures:
            return


async def _result(
    sent: Members, made: dict[str, str], budget: Budget, run: Run
) -> tuple[Members, Answer | None]:
    method = str(member(sent, "method")).upper()
    bulk_id = member(sent, "bulkId")
    told: Members = {"method": method, **({"bulkId": bulk_id} if isinstance(bulk_id, str) else {})}
    try:
        answer = await run(_operation(sent, method, made, budget))
    except ServiceError as error:
        status, document = failure(error)
        return {**told, "status": str(status), "response": document}, None
    if answer is None:
        return {**told, "status": str(HTTPStatus.NO_CONTENT.value)}, None
    status = HTTPStatus.CREATED if method == "POST" else HTTPStatus.OK
    version = {"version": answer.version} if answer.version else {}
    return {**told, "location": answer.location, **version, "status": str(status.value)}, answer


def _operation(sent: Members, method: str, made: dict[str, str], budget: Budget) -> Operation:
    path = member(sent, "path")
    path = _resolved(path, made)
    found = _PATH.fullmatch(path) if isinstance(path, str) else None
    if method not in _METHODS or found is None or bool(found[2]) is (method == "POST"):
        raise refusal(ScimType.INVALID_PATH, "expected a method and the path of a user or of a group")
    version = member(sent, "version")
    return Operation(
        method=method,
        kind=found[1],
        resource_id=found[2] or "",
        document=msgspec.json.encode(_resolved(member(sent, "data"), made)),
        versions=(version,) if isinstance(version, str) and version else (),
        budget=budget,
    )


def failure(error: ServiceError) -> tuple[int, Members]:
    """Return the status and the error document of a refusal: RFC 7644 §3.12."""
    status = error.problem.status
    if error.metadata.get("cause") == _PRECONDITION_FAILED:
        status = HTTPStatus.PRECONDITION_FAILED.value
    scim_type = error.metadata.get("scim_type", "")
    if isinstance(error, AlreadyExists):
        scim_type = "uniqueness"
    elif not scim_type and status == HTTPStatus.BAD_REQUEST:
        scim_type = ScimType.INVALID_VALUE
    document: Members = {"schemas": [ERROR_SCHEMA], "status": str(status), "detail": error.detail}
    return status, {**document, **({"scimType": scim_type} if scim_type else {})}


def _references(value: object, depth: int = 0) -> set[str]:
    """Return the ids of the operations that a value refers to."""
    if depth > _MOST_DEPTH:
        return set()
    match value:
        case str():
            return set(_BULK_ID.findall(value))
        case dict():
            return {each for inner in value.values() for each in _references(inner, depth + 1)}
        case list():
            return {each for inner in value for each in _references(inner, depth + 1)}
        case _:
            return set()


def _resolved(value: object, made: dict[str, str], depth: int = 0) -> object:
    """Return a value with the ids of resources instead of those of operations; raises InvalidArgument."""
    if depth > _MOST_DEPTH:
        raise refusal(ScimType.INVALID_SYNTAX, f"expected at most {_MOST_DEPTH} levels")
    match value:
        case str() if _REFERENCE in value:
            return _BULK_ID.sub(lambda found: _made(found[1], made), value)
        case dict():
            return {name: _resolved(inner, made, depth + 1) for name, inner in value.items()}
        case list():
            return [_resolved(inner, made, depth + 1) for inner in value]
        case _:
            return value


def _made(bulk_id: str, made: dict[str, str]) -> str:
    if bulk_id not in made:
        raise refusal(ScimType.INVALID_VALUE, "bulkId: expected that of an operation that made a resource")
    return made[bulk_id]
