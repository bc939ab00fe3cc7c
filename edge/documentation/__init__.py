"""The page at `/docs`: users read the OpenAPI document of this server in a viewer and try its operations."""

from edge.documentation.routes import documentation_routes

__all__ = ["documentation_routes"]
