"""What an answer may be: of a documented status, of its media type, and of its schema."""

import json
from collections.abc import Callable, Mapping, Sequence

import jsonschema_rs

from tests.requests.building import Request
from tests.requests.connections import Answer
from tests.requests.operations import Document, Operation, Schema

MALFORMED = 400
NOT_IMPLEMENTED = 501
# The time of a caller that waits for the end of a process instance is over.
GATEWAY_TIMEOUT = 504
FAILURES = 500
LARGEST_VALIDATED = 100_000
JSON_TYPES = ("application/json", "application/problem+json")
EXCERPT = 200
SCHEMAS = "urn:answers"


class Verdicts:
    """Of the answers of one document's operations; `is_offered` says whether the mode has an operation."""

    def __init__(
        self, document: Document, operations: Sequence[Operation], is_offered: Callable[[Operation], bool]
    ) -> None:
        self._is_offered = is_offered
        self._registry = jsonschema_rs.Registry([(SCHEMAS, {**document.components, **_numbered(operations)})])
        self._validators: dict[str, jsonschema_rs.Draft202012Validator] = {}

    def on(self, request: Request, answer: Answer) -> str:
        """Return what is wrong with the answer, or nothing."""
        if request.breaks_http:
            is_right = answer.status == MALFORMED and answer.closes
            return "" if is_right else f"status {answer.status} for control characters in the head"
        operation = request.operation
        documented = operation.answers.get(answer.status)
        if documented is None:
            return f"status {answer.status} is not documented"
        if answer.status >= FAILURES and not self._is_right_failure(operation, answer.status):
            return f"status {answer.status}"
        return self._verdict_on_body(operation, answer, documented) if answer.body else ""

    def _verdict_on_body(self, operation: Operation, answer: Answer, documented: Mapping[str, Schema]) -> str:
        media_type = _documented(answer.media_type, documented)
        if media_type is None:
            return f"status {answer.status}: {answer.media_type!r} is none of {sorted(documented)}"
        if media_type not in JSON_TYPES or len(answer.body) > LARGEST_VALIDATED:
            return ""
        return self._difference(_number(operation, answer.status, media_type), answer)

    def _is_right_failure(self, operation: Operation, status: int) -> bool:
        if status == NOT_IMPLEMENTED:
            return not self._is_offered(operation)
        return status == GATEWAY_TIMEOUT

    def _difference(self, number: str, answer: Answer) -> str:
        try:
            value = json.loads(answer.body)
        except ValueError:
            return f"status {answer.status}: the body is not JSON"
        validator = self._validators.get(number)
        if validator is None:
            reference = {"$ref": f"{SCHEMAS}#/answers/{number}"}
            validator = jsonschema_rs.Draft202012Validator(reference, registry=self._registry)
            self._validators[number] = validator
        for error in validator.iter_errors(value):
            place = "/".join("*" if isinstance(step, int) else step for step in error.instance_path)
            return f"status {answer.status}: {place}: {error.message[:EXCERPT]}"
        return ""


def _numbered(operations: Sequence[Operation]) -> Mapping[str, Mapping[str, Schema]]:
    return {
        "answers": {
            _number(operation, status, media_type): schema
            for operation in operations
            for status, documented in operation.answers.items()
            for media_type, schema in documented.items()
        }
    }


def _number(operation: Operation, status: int, media_type: str) -> str:
    """Return a name that can stand in a JSON Pointer."""
    return (
        f"{operation.name} {status} {media_type}".replace("/", "_")
        .replace("{", "")
        .replace("}", "")
        .replace(" ", "_")
    )


def _documented(media_type: str, documented: Mapping[str, Schema]) -> str | None:
    patterns = (media_type, f"{media_type.partition('/')[0]}/*", "*/*")
    return next((pattern for pattern in patterns if pattern in documented), None)
