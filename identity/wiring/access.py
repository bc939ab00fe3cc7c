"""Composes users, sessions, consents, token sets and login protection."""

from dataclasses import dataclass

from identity.access.login_protection.protection import LoginProtection
from identity.access.sessions.logout_records import BACK_CHANNEL_LOGOUTS
from identity.access.sessions.session import SESSIONS
from identity.access.sessions.session_end import SessionTermination
from identity.access.sessions.sessions import Sessions
from identity.access.sign_out import SignOut
from identity.access.tokens.active import ActiveTokens
from identity.access.tokens.revoked import RevokedTokens
from identity.access.tokens.token_sets import TokenSets
from identity.directory.consents.consents import Consents
from identity.directory.user import USERS
from identity.directory.users import Users
from identity.wiring.dependencies import Dependencies


@dataclass(frozen=True, slots=True, kw_only=True)
class UserState:
    users: Users
    sessions: Sessions
    consents: Consents
    token_sets: TokenSets
    revoked_tokens: RevokedTokens
    active_tokens: ActiveTokens
    ending: SessionTermination
    signing_out: SignOut
    protection: LoginProtection


def presence_on(ground: Dependencies) -> UserState:
    sessions = Sessions(
        ground.store.of(SESSIONS),
        ground.secrets,
        clock=ground.clock,
        randomness=ground.randomness,
        lifetimes=ground.config.lifetimes,
        config=ground.config.sessions,
    )
    token_sets, revoked_tokens = TokenSets(ground.store), RevokedTokens(ground.store)
    active_tokens = ActiveTokens(
        ground.keys,
        ground.clients,
        sets=token_sets,
        revoked=revoked_tokens,
        records=ground.store,
        clock=ground.clock,
    )
    ending = SessionTermination(
        sessions,
        ground.clients,
        token_sets,
        queue=ground.store.of(BACK_CHANNEL_LOGOUTS),
        clock=ground.clock,
        randomness=ground.randomness,
        config=ground.config.logout,
    )
    return UserState(
        users=Users(ground.store.of(USERS)),
        sessions=sessions,
        consents=Consents(ground.store, clock=ground.clock, randomness=ground.randomness),
        token_sets=token_sets,
        revoked_tokens=revoked_tokens,
        active_tokens=active_tokens,
        ending=ending,
        signing_out=SignOut(ending, token_sets),
        protection=LoginProtection(
            ground.store,
            ground.secrets,
            clock=ground.clock,
            delays=ground.delays,
            config=ground.config.events.login_protection,
            events=ground.events,
        ),
    )
