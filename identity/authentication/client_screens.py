"""Screens of clients: the stored record, and the resolved screens for pages."""

from dataclasses import dataclass
from typing import Protocol

from identity.authentication.screens.screen import Screen, sign_in_screen, sign_out_screen
from identity.authentication.screens.settings import ScreenSettings
from identity.directory.client import Client
from identity.foundation.tenants import Tenant
from server.platform.records import Kind, Owner, Record, RecordStore


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientScreens(Record):
    """Screens of the client with this id; `logout_css` is the sign-out stylesheet, also when inherited."""

    settings: ScreenSettings
    logout_css: str | None = None


CLIENT_SCREENS = Kind(ClientScreens, "client_screens", owners=(Owner("client"),))


class Clients(Protocol):
    async def find(self, tenant: Tenant, client_id: str) -> Client | None: ...


@dataclass(frozen=True, slots=True)
class ClientScreen:
    client: Client
    screen: Screen


class Screens:
    """Screens come from the client's own tenant, at every provider that serves it; None is the default theme."""

    def __init__(self, store: RecordStore, clients: Clients) -> None:
        self._records = store.of(CLIENT_SCREENS)
        self._clients = clients

    async def of_sign_in(self, client: Client) -> ClientScreen | None:
        kept = await self._records.get(client.tenant_id, client.id)
        return None if kept is None else ClientScreen(client, sign_in_screen(kept.settings))

    async def of_sign_out(self, tenant: Tenant, client_id: str) -> ClientScreen | None:
        client = await self._clients.find(tenant, client_id) if client_id else None
        if client is None or not client.is_enabled:
            return None
        kept = await self._records.get(client.tenant_id, client.id)
        if kept is None:
            return None
        return ClientScreen(client, sign_out_screen(kept.settings, kept.logout_css))
