"""The document of the provider, and answers that are compared with it."""

import json
from typing import Any

from aiohttp import ClientResponse
from jsonschema import Draft202012Validator

from edge.oidc.openapi.document import render
from edge.oidc.routes import table

METHODS = ("get", "put", "post", "delete", "patch")


def published() -> Any:
    return json.loads(render(table()))


def operations(document: Any) -> list[tuple[str, str, Any]]:
    """Return method, path and operation."""
    return [
        (method.upper(), path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if method in METHODS
    ]


async def undocumented(document: Any, method: str, path: str, response: ClientResponse) -> list[str]:
    """Return what an answer has that the document does not say of the operation."""
    found = document["paths"][path][method.lower()]["responses"].get(str(response.status))
    if found is None:
        return [f"{method} {path}: status {response.status}"]
    if "$ref" in found:
        found = document["components"]["responses"][found["$ref"].rpartition("/")[2]]
    content = found.get("content", {})
    body = await response.read()
    if not body:
        return []
    described = content.get(response.content_type, content.get(f"{response.content_type.split('/')[0]}/*"))
    if described is None:
        return [f"{method} {path}: {response.status} of type {response.content_type}"]
    if response.content_type != "application/json":
        return []
    schema = {**described["schema"], "components": document["components"]}
    return [
        f"{method} {path}: {response.status} {error.json_path}: {error.message[:200]}"
        for error in Draft202012Validator(schema).iter_errors(json.loads(body))
    ]
