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
        # The client of a request has the rules of its security profile; its record does not.
        record = await self._records.get(client.tenant_id, client.id)
        if record is None or record.revision != client.revision:
            return
        try:
            await self._records.replace(replace(record, expires_at=None))
        except Changed:
            # The record changed concurrently, by another token or a new registration. The next token repeats this.
            return
