"""Composes authentication and authorization of callers of the administration API."""

from identity.access.administrators import Administrators
from identity.access.api_keys import ApiKeys
from identity.access.callers import Callers
from identity.wiring.access import UserState
from identity.wiring.dependencies import Dependencies


def callers_of(ground: Dependencies, presence: UserState) -> Callers:
    return Callers(
        ground.tenants,
        presence.sessions,
        users=presence.users,
        standings=ground.standings,
        tokens=presence.active_tokens,
        api_keys=ApiKeys(ground.store, ground.secrets),
        administers=Administrators(ground.standings).makes,
        clock=ground.clock,
    )
