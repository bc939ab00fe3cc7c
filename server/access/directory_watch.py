"""Hears of changes of the directory, so that nobody is let in by what it said before.

The provider answers when the version grows, or after a while as it is. A watch that breaks begins anew with nothing
known, longer apart each time; until then what it was told lasts as long as `admission_seconds` says.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import grpc

from gnomon.identity.v1 import directory_service_pb2 as pb
from gnomon.identity.v1.directory_service_pb2_grpc import DirectoryServiceStub
from server.access.config import AccessConfig
from server.platform.channels import Channel

if TYPE_CHECKING:
    from gnomon.identity.v1.directory_service_pb2_grpc import DirectoryServiceAsyncStub

logger = logging.getLogger(__name__)

_WAIT_SECONDS = 15
_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 5.0


class DirectoryWatch:
    """`changed` is told of each change; `channel` leads to the provider."""

    def __init__(self, channel: Channel, config: AccessConfig, changed: Callable[[], None]) -> None:
        self._directory: DirectoryServiceAsyncStub = DirectoryServiceStub(cast("grpc.aio.Channel", channel))
        self._timeout = _WAIT_SECONDS + config.call_timeout_seconds
        self._changed = changed

    async def run(self) -> None:
        """Until it is cancelled."""
        known, pause = 0, _FIRST_PAUSE_SECONDS
        while True:
            try:
                version = await self._beyond(known)
            except grpc.RpcError:
                logger.warning("changes of the directory are noticed late")
                await asyncio.sleep(pause)
                known, pause = 0, min(2 * pause, _LONGEST_PAUSE_SECONDS)
                continue
            if version != known:
                self._changed()
            known, pause = version, _FIRST_PAUSE_SECONDS

    async def _beyond(self, known: int) -> int:
        request = pb.AwaitDirectoryVersionRequest(version=known, wait_secs=_WAIT_SECONDS)
        response = await self._directory.AwaitDirectoryVersion(request, timeout=self._timeout)
        return response.version
