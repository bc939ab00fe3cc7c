"""The web console: pages rendered here from documents of the HTTP API, for people who signed in.

A page calls the same operations as programs, with the session of its browser. It has no permission of its own.
"""

from edge.console.routes import console_routes

__all__ = ["console_routes"]
