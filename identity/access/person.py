"""A signed-in user who makes a request about their own account."""

from dataclasses import dataclass

from identity.access.callers import Actor, ActorKind
from identity.directory.user import UserId
from identity.foundation.tenants import Tenant


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """`actor` carries the session and the network address of the request."""

    tenant: Tenant
    actor: Actor

    @property
    def user_id(self) -> UserId:
        return UserId(self.actor.id)


def person_of(tenant: Tenant, actor: Actor, user_id: UserId) -> Person | None:
    """Return the caller as this user, None for an administrator who acts on another account."""
    is_own = actor.kind is ActorKind.USER and actor.id == user_id
    return Person(tenant=tenant, actor=actor) if is_own else None
