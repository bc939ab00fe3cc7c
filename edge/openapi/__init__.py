"""The contract as an OpenAPI 3.1 document, and what a change of it would break."""

from edge.openapi.changes import breaking_changes
from edge.openapi.document import render

__all__ = ["breaking_changes", "render"]
