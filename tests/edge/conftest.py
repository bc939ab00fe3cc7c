from collections.abc import AsyncIterator

import pytest

from tests.edge.harness import Edge, running


@pytest.fixture(params=["local", "grpc"])
async def edge(request: pytest.FixtureRequest) -> AsyncIterator[Edge]:
    async with running(request.param) as edge:
        yield edge


@pytest.fixture
async def local_edge() -> AsyncIterator[Edge]:
    async with running("local") as edge:
        yield edge
