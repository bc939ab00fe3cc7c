"""Composes the accounts that links of upstream providers and directories find."""

from identity.authentication.federation.linked_accounts import L, LinkedAccounts
from identity.authentication.passkeys.passkey import PASSKEYS
from identity.wiring.access import UserState
from identity.wiring.dependencies import Dependencies
from server.platform.records import Kind


def linked_accounts(dependencies: Dependencies, user_state: UserState, links: Kind[L]) -> LinkedAccounts[L]:
    return LinkedAccounts(
        users=user_state.users,
        links=dependencies.store.of(links),
        administers=dependencies.administrators.makes,
        last_administrator=dependencies.last_administrator,
        version=dependencies.directory_version,
        sign_out=user_state.sign_out,
        passkeys=dependencies.store.of(PASSKEYS),
        events=dependencies.events,
        clock=dependencies.clock,
    )
