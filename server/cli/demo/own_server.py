"""A server in the demo's process, on free ports."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from edge.config import EdgeConfig
from server.bundle import serving
from server.cli.options import ClientOptions
from server.platform.grpc_server import GrpcConfig
from server.sections import Config


@asynccontextmanager
async def own_server() -> AsyncIterator[ClientOptions]:
    """Start the server, and provide options to connect to its gRPC port."""
    async with serving(Config(edge=EdgeConfig(port=0), grpc=GrpcConfig(port=0))) as addresses:
        yield ClientOptions(address=addresses.grpc)
