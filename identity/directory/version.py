"""The directory version, a number that grows with every change of permissions.

Caches of the directory are cleared when it grows. The process that makes the change clears its caches at once. The
others read the version from a shared record, within PASS_SECONDS. While the store is unavailable, cached entries expire
by themselves.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from server.platform.back_off import BackOff, Pauses
from server.platform.call import TenantId
from server.platform.document_revision import DocumentRevision
from server.platform.errors import Unavailable
from server.platform.records import AlreadyThere, Changed, Kind, Record, RecordStore

logger = logging.getLogger(__name__)

PASS_SECONDS = 0.2
_BACK_OFF = BackOff(1.0, 5.0)

_DEPLOYMENT = TenantId("")
_ID = "directory"


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryVersionRecord(Record):
    """The revision of the record is the version.

    The record of changes to tenants has the ids of the latest changed ones, one for each revision, the latest last.
    """

    tenant_ids: tuple[TenantId, ...] = ()


DIRECTORY_VERSIONS = Kind(DirectoryVersionRecord, "directory_version")


class DirectoryVersion:
    def __init__(self, store: RecordStore, revision: DocumentRevision | None = None) -> None:
        """Advance `revision` with every change; it is the revision of published documents."""
        self._records = store.of(DIRECTORY_VERSIONS)
        self._revision = revision or DocumentRevision()
        self._number = 0
        self._grown = asyncio.Event()

    async def advance(self) -> None:
        """Increment the version; must be called after every change of permissions.

        The change itself is already stored, so a failure is only logged.
        """
        try:
            self._know(await self._advanced())
        except Unavailable:
            logger.warning("the directory version was not stored; other processes notice a change late")
        finally:
            # Even if the caller gave up, or another process stored the version first.
            self._revision.advance()
        # Waiting tasks of this process run before the caller continues.
        await asyncio.sleep(0)

    async def beyond(self, number: int, *, seconds: float) -> int:
        """Return the version once it exceeds `number`, or the present one after `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                while self._number <= number:
                    await self._grown.wait()
        except TimeoutError:
            pass
        return self._number

    async def run(self, catch_up: Callable[[], Awaitable[None]]) -> None:
        """Poll for changes by other processes until cancelled; `catch_up` runs before waiting tasks are woken."""
        pauses = Pauses(_BACK_OFF)
        while True:
            try:
                await self._refresh(catch_up)
            except Unavailable:
                logger.warning(
                    "the directory version was not read; changes by other processes are noticed late"
                )
                await pauses.after_failure()
            else:
                pauses.succeeded()
                await asyncio.sleep(PASS_SECONDS)

    async def _refresh(self, catch_up: Callable[[], Awaitable[None]]) -> None:
        number = await self._kept()
        if number > self._number:
            await catch_up()
            self._know(number)

    async def _advanced(self) -> int:
        kept = await self._records.get(_DEPLOYMENT, _ID)
        try:
            if kept is None:
                kept = await self._records.insert(DirectoryVersionRecord(tenant_id=_DEPLOYMENT, id=_ID))
            else:
                kept = await self._records.replace(kept)
        except (AlreadyThere, Changed):
            # Another process advanced the version after our change, so its version covers both.
            return await self._kept()
        return kept.revision

    async def _kept(self) -> int:
        kept = await self._records.get(_DEPLOYMENT, _ID)
        return 0 if kept is None else kept.revision

    def _know(self, number: int) -> None:
        if number > self._number:
            self._number = number
            self._revision.advance()
            self._grown.set()
            self._grown = asyncio.Event()
