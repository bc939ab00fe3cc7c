"""Removes expired records of all kinds, in small batches."""

import asyncio
import logging
from typing import Any

from identity.records import KINDS
from server.platform.errors import Unavailable
from server.platform.records import Kind, RecordStore

logger = logging.getLogger(__name__)

PASS_SECONDS = 60.0
MOST_OF_A_KIND = 1_000


class Upkeep:
    def __init__(self, store: RecordStore) -> None:
        self._store = store

    async def run(self) -> None:
        """Remove expired records periodically until cancelled."""
        while True:
            await asyncio.sleep(PASS_SECONDS)
            try:
                for kind in KINDS:
                    await self._remove_expired(kind)
            except Unavailable:
                logger.warning("removing expired records failed; it is tried again")

    async def _remove_expired(self, kind: Kind[Any]) -> None:
        removed = MOST_OF_A_KIND
        while removed == MOST_OF_A_KIND:
            removed = await self._store.of(kind).remove_expired(most=MOST_OF_A_KIND)
