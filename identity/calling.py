"""Composes what says who calls an administrator's endpoint."""

from identity.admin.api_keys import ApiKeys
from identity.admin.callers import Callers
from identity.directory.user import USERS
from identity.directory.users import Users
from identity.ground import Ground
from identity.sessions.session import SESSIONS
from identity.sessions.sessions import Sessions
from identity.tokens.active import ActiveTokens
from identity.tokens.revoked import RevokedTokens
from identity.tokens.token_sets import TokenSets


def callers_of(ground: Ground) -> Callers:
    sessions = Sessions(
        ground.store.of(SESSIONS),
        ground.secrets,
        clock=ground.clock,
        randomness=ground.randomness,
        lifetimes=ground.config.lifetimes,
        config=ground.config.sessions,
    )
    tokens = ActiveTokens(
        ground.keys,
        ground.clients,
        sets=TokenSets(ground.store),
        revoked=RevokedTokens(ground.store),
        records=ground.store,
        clock=ground.clock,
    )
    return Callers(
        ground.tenants,
        sessions,
        users=Users(ground.store.of(USERS)),
        tokens=tokens,
        api_keys=ApiKeys(ground.store, ground.secrets),
        clock=ground.clock,
    )
