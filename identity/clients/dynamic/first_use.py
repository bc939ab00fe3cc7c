"""Keeps a dynamically registered client after its first token; an unused client expires after an hour."""

from dataclasses import replace

from identity.directory.client import CLIENTS, Client
from server.platform.records import Changed, RecordStore


class FirstUse:
    def __init__(self, store: RecordStore) -> None:
        self._records = store.of(CLIENTS)

    async def note(self, client: Client) -> None:
        """Remove the expiry of a client that got tokens."""
        if client.expires_at is None:
            return
        try:
            await self._records.replace(replace(client, expires_at=None))
        except Changed:
            # The record changed concurrently, by another token or a new registration. The next token repeats this.
            return
