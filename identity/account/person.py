"""Somebody who is signed in and asks for something of its own account."""

from dataclasses import dataclass

from identity.admin.callers import Actor
from identity.directory.user import UserId
from identity.tenants import Tenant


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """`actor` names the session that asks, and where."""

    tenant: Tenant
    actor: Actor

    @property
    def user_id(self) -> UserId:
        return UserId(self.actor.id)
