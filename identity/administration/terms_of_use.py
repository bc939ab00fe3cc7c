"""Administration of the terms of use of a tenant: versions are published and withdrawn, never changed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from identity.access.callers import Actor
from identity.directory.terms_of_use.terms import (
    MOST_LANGUAGES,
    MOST_OF_TENANT,
    TERMS_TEXTS,
    TERMS_VERSIONS,
    TermsAcceptance,
    TermsText,
    TermsVersion,
    TextOfVersion,
)
from identity.directory.terms_of_use.terms_of_use import TermsOfUse
from identity.directory.user import UserId
from identity.foundation.absolute_uris import absolute_uri
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.randomness import Randomness
from identity.foundation.record_changes import rewritten
from identity.foundation.tenants import Tenant
from identity.foundation.visible_text import is_readable
from server.platform.clock import Clock
from server.platform.errors import AlreadyExists, InvalidArgument, InvalidState, NotFound, ServiceError
from server.platform.records import AlreadyThere, RecordStore

_ID_LENGTH = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class TermsDraft:
    """A version to publish; without `holds_from` it holds at once."""

    version: str
    language: str
    text: str = field(repr=False)
    uri: str
    holds_from: datetime | None
    is_accepted_again: bool
    accept_until: datetime | None


@dataclass(frozen=True, slots=True)
class ListedTerms:
    version: TermsVersion
    is_current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TermsAdministration:
    store: RecordStore
    terms: TermsOfUse
    events: Events
    clock: Clock
    randomness: Randomness

    async def all(self, tenant: Tenant) -> Sequence[ListedTerms]:
        """Return all versions, the one that holds last first."""
        self.terms.forget(tenant)
        versions = await self.terms.versions(tenant)
        by_start = sorted(versions, key=lambda each: (each.holds_from, each.published_at), reverse=True)
        return [await self._listed(tenant, version) for version in by_start]

    async def get(self, tenant: Tenant, version: str) -> tuple[ListedTerms, Sequence[tuple[str, str]]]:
        """Return a version, and its languages and texts; raises NotFound."""
        found = await self._find(tenant, version)
        return await self._listed(tenant, found), await self.terms.texts(tenant, found)

    async def publish(self, tenant: Tenant, draft: TermsDraft, actor: Actor) -> ListedTerms:
        """Raises InvalidArgument, AlreadyExists, InvalidState."""
        now = self.clock.now()
        holds_from = draft.holds_from or now
        _expect_valid(draft, holds_from)
        published = await self.store.of(TERMS_VERSIONS).page(tenant.tenant_id, most=MOST_OF_TENANT)
        if len(published) >= MOST_OF_TENANT:
            raise InvalidState(f"expected at most {MOST_OF_TENANT} versions")
        version = TermsVersion(
            tenant_id=tenant.tenant_id,
            id=draft.version,
            uri=draft.uri,
            texts=(),
            holds_from=holds_from,
            is_accepted_again=draft.is_accepted_again,
            accept_until=draft.accept_until,
            published_at=now,
        )
        # The text first, so that a version always has its text.
        if draft.text:
            text = await self._written(tenant, draft.language, _plain(draft.text))
            version = replace(version, texts=(text,))
        try:
            kept = await self.store.of(TERMS_VERSIONS).insert(version)
        except AlreadyThere as error:
            await self._discard(tenant, version.texts)
            raise AlreadyExists("there is a version with this name", field="version") from error
        self.terms.forget(tenant)
        await self._tell(EventType.TERMS_PUBLISHED, kept, actor)
        return await self._listed(tenant, kept)

    async def add_text(
        self, tenant: Tenant, version: str, language: str, text: str, actor: Actor
    ) -> ListedTerms:
        """Add a translation; raises NotFound, InvalidArgument, AlreadyExists, InvalidState."""
        plain = _plain(text)
        _expect_room(await self._find(tenant, version), language)
        added = await self._written(tenant, language, plain)

        def changed(found: TermsVersion) -> TermsVersion:
            _expect_room(found, language)
            return replace(found, texts=(*found.texts, added))

        try:
            kept = await self._rewritten(tenant, version, changed)
        except ServiceError:
            await self._discard(tenant, (added,))
            raise
        self.terms.forget(tenant)
        await self._tell(EventType.TERMS_PUBLISHED, kept, actor, language)
        return await self._listed(tenant, kept)

    async def withdraw(self, tenant: Tenant, version: str, actor: Actor) -> None:
        """Ask no user for the version any more; raises NotFound, InvalidState."""
        now = self.clock.now()

        def changed(found: TermsVersion) -> TermsVersion:
            if found.withdrawn_at is not None:
                raise InvalidState("the version was withdrawn before")
            return replace(found, withdrawn_at=now)

        kept = await self._rewritten(tenant, version, changed)
        self.terms.forget(tenant)
        await self._tell(EventType.TERMS_WITHDRAWN, kept, actor)

    async def acceptances(
        self, tenant: Tenant, version: str, *, after: str, most: int
    ) -> Sequence[TermsAcceptance]:
        """Return acceptances of a version by user, beginning after the user `after`; raises NotFound."""
        await self._find(tenant, version)
        return await self.terms.acceptances(tenant, version, after=after, most=most)

    async def accepted(self, tenant: Tenant, user_id: UserId) -> Sequence[TermsAcceptance]:
        """Return the acceptances of a user, the last one first."""
        found = await self.terms.accepted(tenant, user_id)
        return sorted(found, key=lambda each: each.accepted_at, reverse=True)

    async def _find(self, tenant: Tenant, version: str) -> TermsVersion:
        found = await self.store.of(TERMS_VERSIONS).get(tenant.tenant_id, version)
        if found is None:
            raise NotFound("there is no such version")
        return found

    async def _listed(self, tenant: Tenant, version: TermsVersion) -> ListedTerms:
        current = await self.terms.current(tenant)
        return ListedTerms(version, is_current=current is not None and current.id == version.id)

    async def _rewritten(
        self, tenant: Tenant, version: str, change: Callable[[TermsVersion], TermsVersion]
    ) -> TermsVersion:
        return await rewritten(self.store.of(TERMS_VERSIONS), lambda: self._find(tenant, version), change)

    async def _written(self, tenant: Tenant, language: str, text: str) -> TextOfVersion:
        """Store a text that no version has yet."""
        text_id = self.randomness.alphanumeric(_ID_LENGTH)
        record = TermsText(tenant_id=tenant.tenant_id, id=text_id, text=text)
        await self.store.of(TERMS_TEXTS).insert(record)
        return TextOfVersion(language, text_id)

    async def _discard(self, tenant: Tenant, texts: Sequence[TextOfVersion]) -> None:
        for each in texts:
            await self.store.of(TERMS_TEXTS).take(tenant.tenant_id, each.text_id)

    async def _tell(
        self, event_type: EventType, version: TermsVersion, actor: Actor, language: str = ""
    ) -> None:
        await self.events.emit(
            version.tenant_id,
            event_type,
            ip=actor.peer_address or None,
            text=f"{version.id} {language}".strip(),
            actor=actor,
        )


def _expect_valid(draft: TermsDraft, holds_from: datetime) -> None:
    if not (draft.text or draft.uri):
        raise InvalidArgument("text: expected a text or an address, found neither", field="text")
    if bool(draft.text) != bool(draft.language):
        raise InvalidArgument("language: expected a text together with its language", field="language")
    if draft.uri:
        parts = absolute_uri(draft.uri)
        if parts is None or parts.scheme != "https" or not parts.hostname or "@" in parts.netloc:
            raise InvalidArgument("uri: expected an https address", field="uri")
    if draft.accept_until is not None and draft.accept_until <= holds_from:
        raise InvalidArgument(
            "accept_until: expected a time after the version begins to hold", field="accept_until"
        )


def _expect_room(version: TermsVersion, language: str) -> None:
    if language.lower() in {each.lower() for each in version.languages}:
        raise AlreadyExists("there is a text in this language", field="language")
    if len(version.languages) >= MOST_LANGUAGES:
        raise InvalidState(f"expected at most {MOST_LANGUAGES} languages")


def _plain(text: str) -> str:
    """Return a text with line feeds alone; raises InvalidArgument for characters that readers cannot see."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    if not plain:
        raise InvalidArgument("text: expected a text, found none", field="text")
    if not is_readable(plain):
        raise InvalidArgument("text: expected no control characters", field="text")
    return plain
