"""Operations of the served OpenAPI documents: what each takes, and what it may answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Schema = Mapping[str, Any]
METHODS = ("get", "post", "put", "patch", "delete")
REFERENCE = "#/components/"


@dataclass(frozen=True, slots=True)
class Parameter:
    """Of a path, a query or the headers."""

    name: str
    place: str
    schema: Schema
    is_required: bool


@dataclass(frozen=True, slots=True)
class Operation:
    """`answers` has the media types of each documented status with their schemas."""

    operation_id: str
    method: str
    path: str
    parameters: Sequence[Parameter]
    media_types: Sequence[str]
    body: Schema
    is_body_required: bool
    answers: Mapping[int, Mapping[str, Schema]]

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def family(self) -> str:
        """Collection that the path is about: ids of one are unlike those of another."""
        return self.path.split("/")[3 if self.path.startswith("/auth/") else 2]


class Document:
    """One OpenAPI document."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document

    def resolved(self, schema: Schema) -> Schema:
        """Return what a reference stands for."""
        while reference := schema.get("$ref"):
            kind, name = reference.removeprefix(REFERENCE).split("/")
            schema = self._document["components"][kind][name]
        return schema

    @property
    def components(self) -> Schema:
        """What references of the document stand for, as a document of its own."""
        return {"components": self._document["components"]}

    def operations(self) -> Sequence[Operation]:
        return [
            self._operation(method, path, described)
            for path, methods in self._document["paths"].items()
            for method, described in methods.items()
            if method in METHODS
        ]

    def _operation(self, method: str, path: str, described: Schema) -> Operation:
        body = described.get("requestBody", {})
        content = body.get("content", {})
        return Operation(
            operation_id=described["operationId"],
            method=method.upper(),
            path=path,
            parameters=[self._parameter(found) for found in described.get("parameters", ())],
            media_types=tuple(content),
            body=next(iter(content.values()), {}).get("schema", {}),
            is_body_required=body.get("required", False),
            answers={
                int(status): self._media_types(answer) for status, answer in described["responses"].items()
            },
        )

    def _parameter(self, described: Schema) -> Parameter:
        found = self.resolved(described)
        return Parameter(found["name"], found["in"], found["schema"], found.get("required", False))

    def _media_types(self, answer: Schema) -> Mapping[str, Schema]:
        content = self.resolved(answer).get("content", {})
        return {media_type: found.get("schema", {}) for media_type, found in content.items()}
