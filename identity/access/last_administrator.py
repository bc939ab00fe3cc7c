"""Keeps a person who administers the deployment, and one who administers each tenant that has such a person.

A change that takes administration from somebody must leave a person who administers at least as reliably: best is an
account without an expiry that administers by a role, a group or permissions of its own. Less reliable are accounts that
expire, and accounts that administer by a mapping rule, which compares claims of a token. Accounts that are disabled or
expired, have no way to sign in or an unconfirmed address do not count, and neither do clients. A tenant without an
administrator of its own may stay without one.

An upstream provider or a directory stays enabled while all who administer sign in through it alone.

A change of what somebody has reads only this, found by key. The whole directory of a tenant is read for changes that take
administration.

Each such change compares and increments one record of the tenant. Of two changes in any processes the second one
therefore looks again, and finds what the first one left.
"""

from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeVar

from identity.directory.authorization import Authorization
from identity.directory.claims import NO_CLAIMS
from identity.directory.client import Client
from identity.directory.holdings import ADMINISTRATOR_ROLES, Givers, claims_of_person, standing_of
from identity.directory.labels import GROUPS, ROLES, Group, Label, Role
from identity.directory.mapping_rule import MAPPING_RULES, MappingRule
from identity.directory.provider import PROVIDER_LINKS, PROVIDERS
from identity.directory.standings import Standings
from identity.directory.tenants.ldap_directory import LDAP_DIRECTORIES, LDAP_LINKS
from identity.directory.user import USERS, User
from identity.foundation.tenants import Tenants
from identity.foundation.vocabulary import Permission
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.errors import InvalidState, Unavailable
from server.platform.records import AlreadyThere, Guard, Kind, Record, RecordStore, every

LAST_ADMINISTRATOR = "LAST_ADMINISTRATOR"
"""Cause of the refusal of a change that would leave no administrator."""

_GUARD = "administration"
_BEST = 4

Subject = User | Client | Label | MappingRule | Authorization

R = TypeVar("R", bound=Record)
G = TypeVar("G", Role, Group, MappingRule)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup(Record):
    """A record about the administrators of a tenant.

    `first_administrator` belongs to the default tenant: `user_id` is the id of the first administrator, empty for a
    configured one. `administration` only has a revision, which changes that take administration increment.
    """

    user_id: str = ""
    is_done: bool = False


SETUPS = Kind(Setup, "setup", owners=(), outlives=("user_id",))


class LastAdministrator:
    """`emails` are addresses of users in the configuration; they are looked at first."""

    def __init__(
        self, store: RecordStore, tenants: Tenants, clock: Clock, *, emails: Collection[str]
    ) -> None:
        self._users = store.of(USERS)
        self._roles = store.of(ROLES)
        self._groups = store.of(GROUPS)
        self._rules = store.of(MAPPING_RULES)
        self._setups = store.of(SETUPS)
        self._standings = Standings(store, tenants)
        self._providers = store.of(PROVIDERS)
        self._links = store.of(PROVIDER_LINKS)
        self._directories = store.of(LDAP_DIRECTORIES)
        self._entries = store.of(LDAP_LINKS)
        self._tenants = tenants
        self._clock = clock
        self._emails = emails

    async def guard(
        self, before: Subject, after: Subject | None, *, administers_deployment: bool = False
    ) -> Guard | None:
        """Return the guard with which a change must be written, None for one that takes no administration.

        Callers who administer the deployment may leave another tenant without an administrator. Raises InvalidState for a
        change that would leave nobody who administers.
        """
        tenant_id = before.tenant_id
        is_deployments = tenant_id == self._tenants.default.tenant_id
        if (administers_deployment and not is_deployments) or not _may_take(before, after):
            return None
        if not self._takes(before, after, await self._givers_of(before, after)):
            return None
        guard = await self._guard(tenant_id)
        # Read after the guard, so that this includes all changes with an earlier revision of it.
        if not await self._is_kept(before, after, await self._givers(tenant_id)):
            raise _refusal(is_deployments=is_deployments)
        return guard

    async def guard_ways_in(
        self, tenant_id: TenantId, source_id: str, *, administers_deployment: bool = False
    ) -> Guard | None:
        """Return the guard with which an upstream provider or a directory must be removed or disabled.

        Raises InvalidState if all people who administer sign in through it alone.
        """
        is_deployments = tenant_id == self._tenants.default.tenant_id
        if administers_deployment and not is_deployments:
            return None
        guard, givers = await self._guard(tenant_id), await self._givers(tenant_id)
        best = kept = 0
        async for user in self._candidates(tenant_id, givers):
            rank = self._rank(user, givers)
            best = max(best, rank)
            if rank > kept and not await self._depends_on(user, source_id):
                kept = rank
            if kept == _BEST:
                return guard
        if kept < best:
            raise _refusal(is_deployments=is_deployments)
        return guard

    async def _depends_on(self, user: User, source_id: str) -> bool:
        """Whether the user signs in through this provider or directory, and in no other way."""
        if user.password_hash or user.has_passkey:
            return False
        sources = {link.provider_id for link in await self._links.find(user.tenant_id, "user_id", user.id)}
        for link in await self._entries.find(user.tenant_id, "user_id", user.id):
            sources.add(link.directory_id)
        if source_id not in sources:
            return False
        providers = await self._providers.find_any(user.tenant_id, "id", sources - {source_id})
        directories = await self._directories.find_any(user.tenant_id, "id", sources - {source_id})
        is_open = [each.signs_people_in for each in providers]
        return not any((*is_open, *(each.fields.is_enabled for each in directories)))

    def _takes(self, before: Subject, after: Subject | None, givers: Givers) -> bool:
        """Whether the change takes administration, or access to the own tenant, from some user."""
        if isinstance(before, User):
            kept = self._rank(after, givers) if isinstance(after, User) else 0
            return kept < self._rank(before, givers)
        given, changed = _given(before, givers), _changed(givers, before, after)
        if after is None:
            return bool(given)
        # Holders have the present name, also if the change renames the label.
        return not given <= _given(after if isinstance(after, MappingRule) else before, changed)

    async def _is_kept(self, before: Subject, after: Subject | None, givers: Givers) -> bool:
        """Whether another person is as reliable an administrator as the best one was."""
        if isinstance(before, User):
            rank = self._rank(before, givers)
            return await self._best(before.tenant_id, givers, enough=rank, but=before.id) >= rank
        best = await self._best(before.tenant_id, _changed(givers, before, after), enough=_BEST)
        return best == _BEST or await self._best(before.tenant_id, givers, enough=best + 1) <= best

    async def _best(self, tenant_id: TenantId, givers: Givers, *, enough: int, but: str = "") -> int:
        """Return the rank of the best administrator, or the first rank found that is `enough`."""
        best = 0
        async for user in self._candidates(tenant_id, givers):
            if user.id != but:
                best = max(best, self._rank(user, givers))
            if best >= enough:
                return best
        return best

    async def _candidates(self, tenant_id: TenantId, givers: Givers) -> AsyncIterator[User]:
        """Find users by what makes administrators, then all: no index finds permissions of their own, or claims."""
        for user in await self._users.find_any(tenant_id, "email", self._emails):
            yield user
        giving = (role.name for role in givers.roles if Permission.IDENTITY_WRITE in role.permissions)
        roles = ADMINISTRATOR_ROLES.union(giving)
        groups = [group.name for group in givers.groups if not roles.isdisjoint(group.roles)]
        for field, names in (("roles", roles), ("groups", groups)):
            for name in names:
                for user in await self._users.find(tenant_id, field, name):
                    yield user
        async for user in every(self._users, tenant_id):
            yield user

    def _rank(self, user: User, givers: Givers) -> int:
        if not user.is_active(self._clock.now()) or user.has_no_way_in or user.must_confirm_email:
            return 0
        is_lasting = user.valid_until is None
        if _administers(user, replace(givers, rules=())):
            return 3 + is_lasting
        return 1 + is_lasting if givers.rules and _administers(user, givers) else 0

    async def _givers_of(self, before: Subject, after: Subject | None) -> Givers:
        """Return what gives something to the holders of what changes, before and after; it is found by key."""
        holders = [_holder_of(before), *([] if after is None else [_holder_of(after)])]
        if isinstance(after, Group):
            # Holders have the present name, which finds the group as it is now.
            holders.append(replace(holders[0], groups=(), roles=after.roles))
        claimed = [
            (each, claims_of_person(each) if each is before or each is after else NO_CLAIMS)
            for each in holders
        ]
        givers = await self._standings.labels_of(before.tenant_id, claimed)
        return replace(givers, tenant_ids=(before.tenant_id,))

    async def _givers(self, tenant_id: TenantId) -> Givers:
        """Return what gives something to anybody: only for a change that takes administration."""
        return Givers(
            roles=[role async for role in every(self._roles, tenant_id)],
            groups=[group async for group in every(self._groups, tenant_id)],
            rules=[rule async for rule in every(self._rules, tenant_id)],
            tenant_ids=(tenant_id,),
        )

    async def _guard(self, tenant_id: TenantId) -> Guard:
        for _ in range(2):
            record = await self._setups.get(tenant_id, _GUARD)
            if record is not None:
                return Guard(SETUPS, record)
            try:
                return Guard(SETUPS, await self._setups.insert(Setup(tenant_id=tenant_id, id=_GUARD)))
            except AlreadyThere:
                continue
        raise Unavailable.untouched("the tenant is being removed")


def _refusal(*, is_deployments: bool) -> InvalidState:
    whole = "deployment" if is_deployments else "tenant"
    return InvalidState(
        f"this would leave the {whole} without an administrator; first make another person an administrator, "
        "whose account is enabled and does not expire",
        cause=LAST_ADMINISTRATOR,
    )


def _may_take(before: Subject, after: Subject | None) -> bool:
    """Whether the change can take administration from somebody, without a look at other records."""
    match before, after:
        case User(), User():
            return _rights(before) != _rights(after)
        case ((User() | Role() | Group() | MappingRule()), _):
            return True
        case _:
            return False


def _holder_of(what: Subject) -> User:
    """Return the user, or somebody who has nothing but the label, or what the rule gives."""
    nobody = User(tenant_id=what.tenant_id, id="", email="")
    match what:
        case User():
            return what
        case Role():
            return replace(nobody, roles=(what.name,))
        case Group():
            return replace(nobody, groups=(what.name,))
        case MappingRule():
            return replace(nobody, roles=what.roles, groups=what.groups, tenant_ids=what.tenant_ids)
        case _:
            return nobody


def _given(what: Subject, givers: Givers) -> frozenset[str]:
    """Return what administration needs, as far as holders of the label or rule have it from there."""
    if not isinstance(what, Role | Group | MappingRule):
        return frozenset()
    standing = standing_of(_holder_of(what), givers, NO_CLAIMS)
    needed = standing.permissions & {Permission.IDENTITY_WRITE} | standing.tenant_ids & {what.tenant_id}
    # A rule gives this to principals with its claim only.
    condition = what.condition if isinstance(what, MappingRule) else ()
    return frozenset(f"{each} {condition}" for each in needed)


def _rights(user: User) -> tuple[object, ...]:
    """Return everything that decides whether the user administers, and by which claims."""
    ways_in = (user.is_enabled, user.valid_until, user.has_no_way_in, user.must_confirm_email)
    own = (user.roles, user.groups, user.tenant_ids, user.permissions)
    return (*ways_in, *own, user.email, user.is_email_verified, user.attributes)


def _administers(user: User, givers: Givers) -> bool:
    standing = standing_of(user, givers, claims_of_person(user) if givers.rules else NO_CLAIMS)
    return standing.administers and (not user.tenant_ids or user.tenant_id in standing.tenant_ids)


def _changed(givers: Givers, before: Subject, after: Subject | None) -> Givers:
    match before:
        case Role():
            return replace(givers, roles=_exchanged(givers.roles, before, after))
        case Group():
            return replace(givers, groups=_exchanged(givers.groups, before, after))
        case MappingRule():
            return replace(givers, rules=_exchanged(givers.rules, before, after))
        case _:
            return givers


def _exchanged(present: Collection[G], before: G, after: Subject | None) -> tuple[G, ...]:
    """Replace or remove a record, which keeps its present name."""
    others = (each for each in present if each.id != before.id)
    kept = (replace(after, name=before.name),) if isinstance(after, type(before)) else ()
    return tuple(chain(others, kept))
