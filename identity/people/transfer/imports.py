"""Import of accounts, many in one call.

An import creates accounts and changes none, so it can be repeated, and a row of a file cannot take over an account.
Records of second factors and links are stored before their account, without which they have no effect: an interrupted
import leaves no account with fewer factors than it had.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol

from identity.access.administrators import Administrators
from identity.access.callers import Actor
from identity.authentication.one_time_codes.factors import CodeFactors
from identity.directory.labels import Group, Role
from identity.directory.password_hashes.costliest import CostliestHashes
from identity.directory.provider import Provider, ProviderLink
from identity.directory.user import User
from identity.directory.version import DirectoryVersion
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from identity.people.labels import Labels
from identity.people.transfer.account import Draft, Drafts, ImportedUser, Secrets
from identity.people.transfer.comparison import differences
from identity.people.transfer.new_labels import Maker, NewLabels, RehearsedLabels, WantedLabels, made
from identity.people.user_attributes import UserAttributes
from identity.people.user_changes import Labelled
from server.platform.clock import Clock
from server.platform.errors import InvalidArgument
from server.platform.records import AlreadyThere, Records

_AT_A_TIME = 20


class Outcome(Enum):
    CREATED = auto()
    UNCHANGED = auto()
    REFUSED = auto()


@dataclass(frozen=True, slots=True)
class Result:
    outcome: Outcome
    user_id: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """With `creates_labels`, missing groups, roles and definitions of attributes are created, too."""

    is_dry_run: bool = False
    creates_labels: bool = False
    allows_administrators: bool = False


class Providers(Protocol):
    async def all(self, tenant: Tenant) -> Sequence[Provider]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class UserImports:
    users: Records[User]
    links: Records[ProviderLink]
    factors: Records[CodeFactors]
    groups: Labels[Group]
    roles: Labels[Role]
    attributes: UserAttributes
    providers: Providers
    secrets: Secrets
    costliest: CostliestHashes
    administrators: Administrators
    reserved_usernames: Collection[str]
    version: DirectoryVersion
    events: Events
    clock: Clock
    randomness: Randomness

    async def run(
        self, tenant: Tenant, imported: Sequence[ImportedUser], actor: Actor, options: ImportOptions
    ) -> Sequence[Result]:
        """Return the results in the order of the accounts; raises Unavailable."""
        results: dict[int, Result] = {}
        drafts = await _drafted(await self._drafts(tenant, imported, actor, options), imported, results)
        administrators = await self.administrators.among([draft.user for draft in drafts.values()])
        for number, draft in drafts.items():
            if draft.user.id in administrators:
                _refuse_administrator(number, actor, options, results)
        await self._compare(tenant, drafts, results)
        new = {number: draft for number, draft in drafts.items() if number not in results}
        if options.is_dry_run:
            await self._expect_free_links(tenant, new, results)
            results |= {number: Result(Outcome.CREATED) for number in new if number not in results}
        else:
            await self._insert(tenant, new, results)
            await self._tell(tenant, new, results, actor, administrators)
        return [results[number] for number in range(len(imported))]

    async def _drafts(
        self, tenant: Tenant, imported: Sequence[ImportedUser], actor: Actor, options: ImportOptions
    ) -> Drafts:
        wanted = WantedLabels.of(imported)
        groups = await self.groups.known(tenant, wanted.groups)
        roles = await self.roles.known(tenant, wanted.roles)
        attributes = frozenset(attribute.id for attribute in await self.attributes.all(tenant))
        if options.creates_labels:
            maker: Maker = (
                RehearsedLabels()
                if options.is_dry_run
                else NewLabels(self.groups, self.roles, self.attributes, tenant=tenant, actor=actor)
            )
            groups |= await made(wanted.groups - groups, maker.group)
            roles |= await made(wanted.roles - roles, maker.role)
            attributes |= await made(wanted.attributes - attributes, maker.attribute)
        providers = await self.providers.all(tenant)
        return Drafts(
            tenant=tenant,
            labelled=Labelled(roles, groups, self.reserved_usernames),
            attributes=attributes,
            providers={**{each.name: each for each in providers}, **{each.id: each for each in providers}},
            secrets=self.secrets,
            randomness=self.randomness,
            now=self.clock.now(),
        )

    async def _compare(self, tenant: Tenant, drafts: Mapping[int, Draft], results: dict[int, Result]) -> None:
        """Decide on accounts whose address or name is taken, even by an earlier account of the same call."""
        users = [draft.user for draft in drafts.values()]
        by_email, by_name = await self._taken(tenant, users)
        for number, draft in drafts.items():
            if number in results:
                continue
            user = draft.user
            there = by_email.get(user.email)
            if there is not None:
                results[number] = _compared(there, user)
            elif user.preferred_username and user.preferred_username in by_name:
                results[number] = _refused("there is a user with this preferred_username")
            else:
                by_email[user.email] = user
                by_name[user.preferred_username] = user

    async def _taken(self, tenant: Tenant, users: Iterable[User]) -> tuple[dict[str, User], dict[str, User]]:
        emails = {user.email for user in users}
        usernames = {user.preferred_username for user in users} - {""}
        with_emails = await self.users.find_any(tenant.tenant_id, "email", emails)
        with_names = await self.users.find_any(tenant.tenant_id, "preferred_username", usernames)
        return {user.email: user for user in with_emails}, {
            user.preferred_username: user for user in with_names
        }

    async def _insert(self, tenant: Tenant, new: Mapping[int, Draft], results: dict[int, Result]) -> None:
        await self._insert_links(tenant, new, results)
        kept = {number: draft for number, draft in new.items() if number not in results}
        await self.factors.insert_all([draft.factors for draft in kept.values() if draft.factors])
        hashes = [draft.user.password_hash for draft in kept.values() if draft.user.password_hash]
        await self.costliest.note(tenant.tenant_id, hashes)
        # Two imports of the same accounts seldom wait for each other if both are sorted by address.
        users = sorted((draft.user for draft in kept.values()), key=lambda user: user.email)
        inserted = {user.id for user in await self.users.insert_all(users)}
        for number, draft in kept.items():
            if draft.user.id not in inserted:
                await self._insert_alone(draft, number, results)
            results.setdefault(number, Result(Outcome.CREATED, draft.user.id))

    async def _insert_alone(self, draft: Draft, number: int, results: dict[int, Result]) -> None:
        """Insert an account that was omitted, because another one conflicts, or did so until it expired."""
        try:
            await self.users.insert(draft.user)
        except AlreadyThere as error:
            results[number] = _refused(f"another caller made a user with this {error.field} meanwhile")
            await self._withdraw(draft)

    async def _insert_links(
        self, tenant: Tenant, new: Mapping[int, Draft], results: dict[int, Result]
    ) -> None:
        inserted = await self.links.insert_all([link for draft in new.values() for link in draft.links])
        own = {(link.id, link.user_id) for link in inserted}
        for number, draft in new.items():
            for link in draft.links:
                if (link.id, link.user_id) not in own and not await self._insert_link(tenant, link):
                    results[number] = _refused(
                        "links: another account is linked to this user of the provider"
                    )
                    await self._withdraw(draft)
                    break

    async def _insert_link(self, tenant: Tenant, link: ProviderLink) -> bool:
        """Insert a link, replacing a link whose account does not exist because an import was interrupted."""
        if not await self._is_free(tenant, link):
            return False
        await self.links.take(tenant.tenant_id, link.id)
        try:
            await self.links.insert(link)
        except AlreadyThere:
            return False
        return True

    async def _is_free(self, tenant: Tenant, link: ProviderLink) -> bool:
        there = await self.links.get(tenant.tenant_id, link.id)
        return there is None or await self.users.get(tenant.tenant_id, there.user_id) is None

    async def _expect_free_links(
        self, tenant: Tenant, new: Mapping[int, Draft], results: dict[int, Result]
    ) -> None:
        for number, draft in new.items():
            for link in draft.links:
                if not await self._is_free(tenant, link):
                    results[number] = _refused(
                        "links: another account is linked to this user of the provider"
                    )

    async def _withdraw(self, draft: Draft) -> None:
        user = draft.user
        await self.links.remove(user.tenant_id, "user_id", user.id)
        if draft.factors is not None:
            await self.factors.take(user.tenant_id, user.id)

    async def _tell(
        self,
        tenant: Tenant,
        new: Mapping[int, Draft],
        results: Mapping[int, Result],
        actor: Actor,
        administrators: Collection[str],
    ) -> None:
        users = [draft.user for number, draft in new.items() if results[number].outcome is Outcome.CREATED]
        if not users:
            return
        await self.version.advance()
        for event_type, about in (
            (EventType.NEW_USER_REGISTERED, users),
            (EventType.NEW_ADMINISTRATOR, [user for user in users if user.id in administrators]),
        ):
            await self.events.emit_all(
                tenant.tenant_id,
                event_type,
                [(user.id, user.email) for user in about],
                ip=actor.peer_address or None,
                actor=actor,
            )


async def _drafted(
    drafts: Drafts, imported: Sequence[ImportedUser], results: dict[int, Result]
) -> Mapping[int, Draft]:
    """Create a draft of each valid account, and refuse the others."""
    made: dict[int, Draft] = {}
    linked: set[str] = set()
    for number, each in enumerate(imported):
        if number % _AT_A_TIME == 0:
            # Other calls take their turns, because a hundred accounts take tens of milliseconds.
            await asyncio.sleep(0)
        try:
            draft = drafts.of(each)
        except InvalidArgument as refusal:
            results[number] = _refused(refusal.detail)
            continue
        ids = {link.id for link in draft.links}
        if linked.isdisjoint(ids) and len(ids) == len(draft.links):
            made[number] = draft
        else:
            results[number] = _refused("links: a user of the provider is there twice")
        linked |= ids
    return made


def _refuse_administrator(
    number: int, actor: Actor, options: ImportOptions, results: dict[int, Result]
) -> None:
    if actor.is_api_key:
        results[number] = _refused("an API key cannot create administrators")
    elif not options.allows_administrators:
        results[number] = _refused("the account would be an administrator, which the import does not allow")


def _compared(there: User, user: User) -> Result:
    others = differences(there, user)
    if not others:
        return Result(Outcome.UNCHANGED, there.id)
    return _refused(f"there is a user with this email and another {', '.join(others)}")


def _refused(reason: str) -> Result:
    return Result(Outcome.REFUSED, reason=reason)
