"""Administration of the sign-in and sign-out screens of clients."""

import asyncio
import hashlib
from collections.abc import Collection
from dataclasses import dataclass, replace

import msgspec

from identity.access.administrators import Administrators
from identity.access.callers import Actor
from identity.authentication.client_screens import CLIENT_SCREENS, ClientScreen, ClientScreens
from identity.authentication.screens.errors import ScreensRefused
from identity.authentication.screens.screen import ScreenKind, sign_in_screen, sign_out_screen
from identity.authentication.screens.settings import SanitizedScreens, ScreenSettings, sanitized_screens
from identity.directory.client import CLIENTS, Client
from identity.directory.own_clients import OWN_CLIENT_IDS
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from server.platform.errors import InvalidArgument, InvalidState, NotFound, Unavailable
from server.platform.records import AlreadyThere, Changed, RecordStore

_ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class TaggedSettings:
    settings: ScreenSettings
    etag: str


class ScreenAdministration:
    """A refused change leaves the screens unchanged. API keys cannot change screens of a client that administers."""

    def __init__(self, store: RecordStore, administrators: Administrators, events: Events) -> None:
        self._records = store.of(CLIENT_SCREENS)
        self._clients = store.of(CLIENTS)
        self._administrators = administrators
        self._events = events

    async def find(self, tenant: Tenant, client_id: str) -> TaggedSettings:
        """Raises NotFound."""
        client = await self._client(tenant, client_id)
        return _kept(await self._records.get(tenant.tenant_id, client.id))

    async def save(
        self,
        tenant: Tenant,
        client_id: str,
        draft: ScreenSettings,
        *,
        if_match: Collection[str],
        actor: Actor,
    ) -> SanitizedScreens:
        """Replace all screens of the client.

        Raises NotFound, PermissionDenied, InvalidState, InvalidArgument, Unavailable.
        """
        client = await self._of_relying_party(tenant, client_id)
        await self._administrators.expect_may_change(client, actor)
        saved = await self._write(tenant, client, draft, if_match=if_match)
        await self._expect_still_there(tenant, client)
        await self._events.emit(
            tenant.tenant_id,
            EventType.CHANGED,
            text=f"screens of client {client.id}",
            client_id=client.id,
            actor=actor,
        )
        return saved

    async def preview(
        self, tenant: Tenant, client_id: str, draft: ScreenSettings, *, kind: ScreenKind
    ) -> ClientScreen:
        """Return the screen that a draft would give; raises NotFound, InvalidState, InvalidArgument."""
        client = await self._of_relying_party(tenant, client_id)
        before = _kept(await self._records.get(tenant.tenant_id, client.id)).settings
        checked = await _checked(draft, before)
        if kind is ScreenKind.LOGIN:
            return ClientScreen(client, sign_in_screen(checked.settings))
        return ClientScreen(client, sign_out_screen(checked.settings, checked.logout_css))

    async def _write(
        self, tenant: Tenant, client: Client, draft: ScreenSettings, *, if_match: Collection[str]
    ) -> SanitizedScreens:
        for _ in range(_ATTEMPTS):
            record = await self._records.get(tenant.tenant_id, client.id)
            kept = _kept(record)
            if if_match and kept.etag not in if_match:
                raise InvalidState("another caller changed the screens in the meantime", cause="OTHER_ETAG")
            checked = await _checked(draft, kept.settings)
            new = ClientScreens(
                tenant_id=tenant.tenant_id,
                id=client.id,
                settings=checked.settings,
                logout_css=checked.logout_css,
            )
            try:
                if record is None:
                    await self._records.insert(new)
                else:
                    await self._records.replace(replace(new, revision=record.revision))
            except (AlreadyThere, Changed):
                continue
            return checked
        raise Unavailable.untouched("too many requests change the screens at the same time")

    async def _expect_still_there(self, tenant: Tenant, client: Client) -> None:
        """Remove the screens again if the client was removed while they were written."""
        try:
            await self._client(tenant, client.id)
        except NotFound:
            await self._records.take(tenant.tenant_id, client.id)
            raise

    async def _client(self, tenant: Tenant, client_id: str) -> Client:
        client = await self._clients.get(tenant.tenant_id, client_id)
        if client is None:
            raise NotFound("there is no such client")
        return client

    async def _of_relying_party(self, tenant: Tenant, client_id: str) -> Client:
        client = await self._client(tenant, client_id)
        if client.id in OWN_CLIENT_IDS:
            # The provider's own pages keep the default theme, so that an administrator can always repair the screens.
            raise InvalidState("the client belongs to the provider and cannot be changed")
        return client


def etag_of(settings: ScreenSettings) -> str:
    """Return a tag that differs between settings, also between clients that had the same id."""
    return hashlib.sha256(msgspec.json.encode(settings)).hexdigest()


def _kept(record: ClientScreens | None) -> TaggedSettings:
    settings = ScreenSettings() if record is None else record.settings
    return TaggedSettings(settings, etag_of(settings))


async def _checked(draft: ScreenSettings, kept: ScreenSettings) -> SanitizedScreens:
    """Sanitize in a thread: a stylesheet may take tenths of a second, which would block the event loop."""
    try:
        return await asyncio.to_thread(sanitized_screens, draft, kept)
    except ScreensRefused as error:
        raise InvalidArgument(error.message, field=error.field) from error
