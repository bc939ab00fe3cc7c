"""Asks the provider for removals of tenants, lets the partitions of this process do their part, and reports it."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol, cast

import grpc

from gnomon.identity.v1 import tenant_removal_service_pb2 as pb
from gnomon.identity.v1.tenant_removal_service_pb2_grpc import TenantRemovalServiceStub
from server.partition.tenant_removals import Listed, Removal, RemovalReport
from server.platform.back_off import BackOff, Pauses
from server.platform.channels import Channel
from server.platform.errors import ServiceError

if TYPE_CHECKING:
    from gnomon.identity.v1.tenant_removal_service_pb2_grpc import TenantRemovalServiceAsyncStub

logger = logging.getLogger(__name__)

PASS_SECONDS = 1.0
# Deletions of tenants wake the watch, so this interval finds only those of which it was not told.
IDLE_SECONDS = 15.0
_CALL_SECONDS = 60.0
_BACK_OFF = BackOff(1.0, 5.0)


class Removals(Protocol):
    async def advance(self, listed: Listed) -> Sequence[RemovalReport]: ...


class RemovalWatch:
    """`channel` leads to the provider; `removals` returns those of the present engine."""

    def __init__(self, channel: Channel, removals: Callable[[], Removals]) -> None:
        self._provider: TenantRemovalServiceAsyncStub = TenantRemovalServiceStub(
            cast("grpc.aio.Channel", channel)
        )
        self._removals = removals
        self._woken = asyncio.Event()
        self._has_some = False

    def wake(self) -> None:
        """Look at once, after a change of the directory."""
        self._woken.set()

    async def run(self) -> None:
        """Do a round every second while tenants are being removed, else after each change, until cancelled."""
        pauses = Pauses(_BACK_OFF)
        while True:
            self._woken.clear()
            try:
                await self.round()
            except (grpc.RpcError, ServiceError):
                logger.warning("the provider is not available; tenants are removed later")
                await pauses.after_failure()
                continue
            pauses.succeeded()
            with suppress(TimeoutError):
                async with asyncio.timeout(PASS_SECONDS if self._has_some else IDLE_SECONDS):
                    await self._woken.wait()

    async def round(self) -> None:
        """Raises RpcError and ServiceError."""
        for report in await self._removals().advance(self._listed):
            request = pb.ReportTenantRemovalRequest(
                removal=pb.TenantRemoval(
                    tenant_id=report.removal.tenant_id,
                    number=report.removal.number,
                    settled=report.removal.is_settled,
                    releasing=report.removal.is_releasing,
                ),
                rows_left=report.rows_left,
                done=report.is_done,
            )
            await self._provider.ReportTenantRemoval(request, timeout=_CALL_SECONDS)

    async def _listed(self) -> Sequence[Removal]:
        response = await self._provider.ListTenantRemovals(
            pb.ListTenantRemovalsRequest(), timeout=_CALL_SECONDS
        )
        self._has_some = bool(response.removals)
        return [
            Removal(each.tenant_id, each.number, is_settled=each.settled, is_releasing=each.releasing)
            for each in response.removals
        ]
