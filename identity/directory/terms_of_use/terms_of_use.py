"""The terms of use that a user has to accept, and the acceptances of users."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from identity.directory.client import ClientId
from identity.directory.terms_of_use.terms import (
    MOST_OF_TENANT,
    TERMS_ACCEPTANCES,
    TERMS_TEXTS,
    TERMS_VERSIONS,
    TermsAcceptance,
    TermsVersion,
    TextOfVersion,
    acceptance_id_of,
    sufficient,
)
from identity.directory.user import User, UserId
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import NotFound
from server.platform.records import AlreadyThere, RecordStore

KEPT_FOR = timedelta(seconds=10)
"""For this time, a process may not know a version that another process published or withdrew."""

_MOST_TENANTS = 10_000
# Concurrent publications may exceed the bound.
_MOST_READ = 2 * MOST_OF_TENANT


@dataclass(frozen=True, slots=True, kw_only=True)
class OutstandingTerms:
    """The version that a user has to accept; with `until` the user may continue without it before that time."""

    version: TermsVersion
    until: datetime | None

    @property
    def may_wait(self) -> bool:
        return self.until is not None


@dataclass(frozen=True, slots=True)
class _Known:
    versions: Sequence[TermsVersion]
    until: datetime


class TermsOfUse:
    """Versions are kept in memory for a moment, because every sign-in and every token of a user asks for them."""

    def __init__(self, store: RecordStore, clock: Clock) -> None:
        self._versions = store.of(TERMS_VERSIONS)
        self._texts = store.of(TERMS_TEXTS)
        self._acceptances = store.of(TERMS_ACCEPTANCES)
        self._clock = clock
        self._known: dict[str, _Known] = {}
        self._changes = 0

    async def outstanding(self, tenant: Tenant, user: User) -> OutstandingTerms | None:
        """Return the version that the user has to accept, None without one."""
        now = self._clock.now()
        enough = sufficient(await self.versions(tenant), now)
        if not enough:
            return None
        accepted = {each.version for each in await self.accepted(tenant, user.user_id)}
        if any(version.id in accepted for version in enough):
            return None
        required = enough[-1]
        is_older = user.created_at is None or user.created_at < required.holds_from
        until = required.accept_until if is_older else None
        return OutstandingTerms(version=enough[0], until=until if until is not None and now < until else None)

    async def is_overdue(self, tenant: Tenant, user: User) -> bool:
        """Whether the user may get no more tokens before accepting the terms."""
        outstanding = await self.outstanding(tenant, user)
        return outstanding is not None and not outstanding.may_wait

    async def current(self, tenant: Tenant) -> TermsVersion | None:
        """Return the version that holds."""
        return next(iter(sufficient(await self.versions(tenant), self._clock.now())), None)

    async def public(self, tenant: Tenant, version: str) -> TermsVersion:
        """Return the version with this id, if it holds or held, and without an id the one that holds; raises NotFound."""
        if not version:
            found = await self.current(tenant)
        else:
            known = (each for each in await self.versions(tenant) if each.id == version)
            found = next((each for each in known if each.holds_from <= self._clock.now()), None)
        if found is None:
            raise NotFound("there are no such terms of use")
        return found

    async def text(self, tenant: Tenant, version: TermsVersion, languages: Sequence[str]) -> tuple[str, str]:
        """Return the text in the first of these languages that it has, and the language; both empty without a text.

        A language without a text falls back to a more general one, RFC 4647 §3.4, and in the end to the first text.
        """
        if not version.texts:
            return "", ""
        chosen = _chosen(version.texts, languages)
        found = await self._texts.get(tenant.tenant_id, chosen.text_id)
        return ("", "") if found is None else (found.text, chosen.language)

    async def texts(self, tenant: Tenant, version: TermsVersion) -> Sequence[tuple[str, str]]:
        """Return languages and texts of a version."""
        found = [
            (each.language, await self._texts.get(tenant.tenant_id, each.text_id)) for each in version.texts
        ]
        return [(language, text.text) for language, text in found if text is not None]

    async def accept(
        self, tenant: Tenant, user_id: UserId, version: TermsVersion, *, client_id: ClientId
    ) -> bool:
        """Record the acceptance; False when there is one."""
        acceptance = TermsAcceptance(
            tenant_id=tenant.tenant_id,
            id=acceptance_id_of(version.id, user_id),
            user_id=user_id,
            version=version.id,
            accepted_at=self._clock.now(),
            client_id=client_id,
        )
        with suppress(AlreadyThere):
            await self._acceptances.insert(acceptance)
            return True
        return False

    async def accepted(self, tenant: Tenant, user_id: UserId) -> Sequence[TermsAcceptance]:
        """Return the acceptances of a user."""
        return await self._acceptances.find(tenant.tenant_id, "user_id", user_id, most=_MOST_READ)

    async def acceptances(
        self, tenant: Tenant, version: str, *, after: str, most: int
    ) -> Sequence[TermsAcceptance]:
        """Return acceptances of a version by user, beginning after the user `after`."""
        begin = acceptance_id_of(version, after)
        page = await self._acceptances.page(tenant.tenant_id, after=begin, most=most)
        return [each for each in page if each.version == version]

    async def versions(self, tenant: Tenant) -> Sequence[TermsVersion]:
        """Return all versions as this process knows them."""
        now, known = self._clock.now(), self._known.get(tenant.tenant_id)
        if known is not None and now < known.until:
            return known.versions
        changes = self._changes
        found = await self._versions.page(tenant.tenant_id, most=_MOST_READ)
        if len(self._known) >= _MOST_TENANTS:
            self._known.clear()
        # A change in the meantime may be missing here.
        if changes == self._changes:
            self._known[tenant.tenant_id] = _Known(found, now + KEPT_FOR)
        return found

    def forget(self, tenant: Tenant) -> None:
        """Read the versions of the tenant again at the next question."""
        self._changes += 1
        self._known.pop(tenant.tenant_id, None)


def _chosen(present: Sequence[TextOfVersion], wanted: Sequence[str]) -> TextOfVersion:
    by_tag = {each.language.lower(): each for each in present}
    for tag in wanted:
        rest = tag.strip().lower().replace("_", "-")
        while rest:
            if rest in by_tag:
                return by_tag[rest]
            rest = rest.rpartition("-")[0]
    return present[0]
