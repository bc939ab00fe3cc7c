"""A client that registered itself stays once it was of use to somebody: until then it has an hour."""

from dataclasses import replace

from identity.clients.client import CLIENTS, Client
from server.platform.records import Changed, RecordStore


class FirstUse:
    def __init__(self, store: RecordStore) -> None:
        self._records = store.of(CLIENTS)

    async def note(self, client: Client) -> None:
        """The client got tokens."""
        if client.expires_at is None:
            return
        try:
            await self._records.replace(replace(client, expires_at=None))
        except Changed:
            # Another token at the same time, or the client describes itself anew: then its next token counts.
            return
