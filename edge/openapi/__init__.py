"""The contract as an OpenAPI 3.1 document, and detection of breaking changes."""

from edge.openapi.changes import breaking_changes
from edge.openapi.document import render

__all__ = ["breaking_changes", "render"]
