"""A signed-in user who makes a request about their own account."""

from dataclasses import dataclass

from identity.access.callers import Actor
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
