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
from identity.directory.consents.support_access import SupportAccesses
from identity.directory.terms_of_use.terms_of_use import TermsOfUse
from identity.directory.user import USERS
from identity.directory.users import Users
from identity.wiring.dependencies import Dependencies


@dataclass(frozen=True, slots=True, kw_only=True)
class UserState:
    users: Users
    sessions: Sessions
    consents: Consents
    terms: TermsOfUse
    support: SupportAccesses
    token_sets: TokenSets
    revoked_tokens: RevokedTokens
    active_tokens: ActiveTokens
    termination: SessionTermination
    sign_out: SignOut
    protection: LoginProtection


def user_state_of(dependencies: Dependencies) -> UserState:
    sessions = Sessions(
        dependencies.store.of(SESSIONS),
        dependencies.secrets,
        users=dependencies.store.of(USERS),
        version=dependencies.directory_version,
        clock=dependencies.clock,
        randomness=dependencies.randomness,
        lifetimes=dependencies.config.lifetimes,
        config=dependencies.config.sessions,
    )
    token_sets = TokenSets(dependencies.store, dependencies.directory_version)
    revoked_tokens = RevokedTokens(dependencies.store, dependencies.directory_version)
    active_tokens = ActiveTokens(
        dependencies.keys,
        dependencies.clients,
        dependencies.subjects,
        sets=token_sets,
        revoked=revoked_tokens,
        records=dependencies.store,
        clock=dependencies.clock,
    )
    termination = SessionTermination(
        sessions,
        dependencies.clients,
        token_sets,
        queue=dependencies.store.of(BACK_CHANNEL_LOGOUTS),
        clock=dependencies.clock,
        randomness=dependencies.randomness,
        config=dependencies.config.logout,
        events=dependencies.events,
    )
    return UserState(
        users=Users(dependencies.store.of(USERS), takes_usernames=dependencies.config.users.username_sign_in),
        sessions=sessions,
        consents=Consents(dependencies.store, clock=dependencies.clock, randomness=dependencies.randomness),
        terms=TermsOfUse(dependencies.store, dependencies.clock),
        support=SupportAccesses(dependencies.store, dependencies.clock),
        token_sets=token_sets,
        revoked_tokens=revoked_tokens,
        active_tokens=active_tokens,
        termination=termination,
        sign_out=SignOut(termination, token_sets, dependencies.store.of(USERS), dependencies.clock),
        protection=LoginProtection(
            dependencies.store,
            dependencies.secrets,
            clock=dependencies.clock,
            delays=dependencies.delays,
            config=dependencies.config.events.login_protection,
            events=dependencies.events,
        ),
    )
