"""The HTTP listener: bounded connections, deadlines for heads, bodies and idleness, problems for malformed requests."""

from edge.listener.server import EdgeServer

__all__ = ["EdgeServer"]
