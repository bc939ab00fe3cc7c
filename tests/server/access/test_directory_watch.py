"""How changes of the directory arrive; the provider is a fake that is away when it is told to be."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gnomon.identity.v1 import directory_service_pb2 as pb
from server.access.config import AccessConfig
from server.access.directory_watch import DirectoryWatch
from server.platform.call import Call
from server.platform.channels import LocalChannel
from server.platform.dispatch import Dispatcher
from server.platform.errors import Unavailable

DIRECTORY = pb.DESCRIPTOR.services_by_name["DirectoryService"]
# Nothing takes so long; only what never comes does.
LONG = 20


class FakeDirectory:
    """Answers with the versions that it is given, one after the other; None is an outage."""

    def __init__(self) -> None:
        self._versions: asyncio.Queue[int | None] = asyncio.Queue()
        self._known: asyncio.Queue[int] = asyncio.Queue()

    async def await_directory_version(
        self, request: pb.AwaitDirectoryVersionRequest, _call: Call
    ) -> pb.AwaitDirectoryVersionResponse:
        self._known.put_nowait(request.version)
        version = await self._versions.get()
        if version is None:
            raise Unavailable("the provider is away")
        return pb.AwaitDirectoryVersionResponse(version=version)

    async def answer(self, *versions: int | None) -> list[int]:
        """Return what is known before each answer, and after the last one."""
        for version in versions:
            self._versions.put_nowait(version)
        async with asyncio.timeout(LONG):
            return [await self._known.get() for _ in (*versions, "the next")]


@pytest.fixture
def directory() -> FakeDirectory:
    return FakeDirectory()


@asynccontextmanager
async def watched(directory: FakeDirectory) -> AsyncIterator[list[str]]:
    """The watch has seen the change."""
    changes: list[str] = []
    channel = LocalChannel(Dispatcher({DIRECTORY: directory}, ()))
    watch = DirectoryWatch(channel, AccessConfig(issuer=""), lambda _: changes.append("changed"))
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(watch.run())
        yield changes
        running.cancel()


async def test_each_version_is_a_change(directory: FakeDirectory) -> None:
    async with watched(directory) as changes:
        assert await directory.answer(1, 2, 5) == [0, 1, 2, 5]
        assert len(changes) == 3


async def test_the_same_version_is_none(directory: FakeDirectory) -> None:
    async with watched(directory) as changes:
        assert await directory.answer(4, 4, 4) == [0, 4, 4, 4]
        assert len(changes) == 1


async def test_a_watch_that_breaks_begins_anew(directory: FakeDirectory) -> None:
    async with watched(directory) as changes:
        assert await directory.answer(3, None, None, 3) == [0, 3, 0, 0, 3]
        assert len(changes) == 2
