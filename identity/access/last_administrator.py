"""Keeps a person who administers the deployment, and one who administers each tenant that has such a person.

A change that takes administration from somebody must leave a person who administers at least as reliably: best is an
account without an expiry that administers by a role, a group or permissions of its own. Less reliable are accounts that
expire, and accounts that administer by a mapping rule, which compares claims of a token. Accounts that are disabled or
expired, have no way to sign in or an unconfirmed address do not count, and neither do clients. A tenant without an
administrator of its own may stay without one.

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
        if not self._takes(before, after, await self._givers(tenant_id)):
            return None
        guard = await self._guard(tenant_id)
        # Read after the guard, so that this includes all changes with an earlier revision of it.
        if not await self._is_kept(before, after, await self._givers(tenant_id)):
            whole = "deployment" if is_deployments else "tenant"
            raise InvalidState(
                f"this would leave the {whole} without an administrator; first make another person an administrator, "
                "whose account is enabled and does not expire",
                cause=LAST_ADMINISTRATOR,
            )
        return guard

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

    async def _givers(self, tenant_id: TenantId) -> Givers:
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


def _may_take(before: Subject, after: Subject | None) -> bool:
    """Whether the change can take administration from somebody, without a look at other records."""
    match before, after:
        case User(), User():
            return _rights(before) != _rights(after)
        case ((User() | Role() | Group() | MappingRule()), _):
            return True
        case _:
            return False


def _given(what: Subject, givers: Givers) -> frozenset[str]:
    """Return what administration needs, as far as holders of the label or rule have it from there."""
    nobody = User(tenant_id=what.tenant_id, id="", email="")
    match what:
        case Role():
            holder = replace(nobody, roles=(what.name,))
        case Group():
            holder = replace(nobody, groups=(what.name,))
        case MappingRule():
            holder = replace(nobody, roles=what.roles, groups=what.groups, tenant_ids=what.tenant_ids)
        case _:
            return frozenset()
    standing = standing_of(holder, givers, NO_CLAIMS)
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
