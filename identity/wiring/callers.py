"""Composes authentication and authorization of callers of the administration API."""

from identity.access.api_keys import ApiKeys
from identity.access.callers import Callers
from identity.wiring.access import UserState
from identity.wiring.dependencies import Dependencies


def callers_of(dependencies: Dependencies, user_state: UserState) -> Callers:
    return Callers(
        dependencies.tenants,
        user_state.sessions,
        users=user_state.users,
        standings=dependencies.standings,
        tokens=user_state.active_tokens,
        api_keys=ApiKeys(dependencies.store, dependencies.secrets),
        administers=dependencies.administrators.makes,
        clock=dependencies.clock,
    )
