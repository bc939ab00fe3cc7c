"""Watches the directory for changes, so that no caller is admitted by outdated data or with a revoked token.

The provider responds when the version increases, or after a timeout. A failed watch restarts from version 0,
after increasing pauses; until then cached principals are valid for `admission_seconds`.
"""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import grpc

from gnomon.identity.v1 import directory_service_pb2 as pb
from gnomon.identity.v1.directory_service_pb2_grpc import DirectoryServiceStub
from server.access.config import AccessConfig
from server.platform.back_off import BackOff, Pauses
from server.platform.channels import Channel

if TYPE_CHECKING:
    from gnomon.identity.v1.directory_service_pb2_grpc import DirectoryServiceAsyncStub

logger = logging.getLogger(__name__)

_WAIT_SECONDS = 15
_BACK_OFF = BackOff(0.1, 5.0)


class DirectoryWatch:
    """Calls `changed` for each change of the directory; `channel` leads to the provider.

    It gets the ids that the change affects, none if it may affect every principal.
    """

    def __init__(
        self, channel: Channel, config: AccessConfig, changed: Callable[[frozenset[str]], None]
    ) -> None:
        self._directory: DirectoryServiceAsyncStub = DirectoryServiceStub(cast("grpc.aio.Channel", channel))
        self._timeout = _WAIT_SECONDS + config.call_timeout_seconds
        self._changed = changed

    async def run(self) -> None:
        """Watch until cancelled."""
        known, pauses = 0, Pauses(_BACK_OFF)
        while True:
            try:
                response = await self._beyond(known)
            except grpc.RpcError:
                logger.warning("changes of the directory are noticed late")
                await pauses.after_failure()
                known = 0
                continue
            if response.version != known:
                self._changed(frozenset(response.affected_ids))
            pauses.succeeded()
            known = response.version

    async def _beyond(self, known: int) -> pb.AwaitDirectoryVersionResponse:
        request = pb.AwaitDirectoryVersionRequest(version=known, wait_secs=_WAIT_SECONDS)
        return await self._directory.AwaitDirectoryVersion(request, timeout=self._timeout)
