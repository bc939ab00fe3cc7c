"""Routes about users, below each issuer."""

from collections.abc import Iterator, Mapping

from edge.oidc.access.administration_calls import AdministrationCalls
from edge.oidc.access.browsers import Browsers
from edge.oidc.config import OidcConfig
from edge.oidc.people.one_time_codes import OneTimeCodesEndpoint
from edge.oidc.people.own_account import OwnAccountEndpoint
from edge.oidc.people.passkeys import PasskeysEndpoint
from edge.oidc.people.personal_data import PersonalDataEndpoint
from edge.oidc.people.provider_links import ProviderLinksEndpoint
from edge.oidc.people.users import UsersEndpoint
from edge.oidc.protocol.devices import DevicesEndpoint
from edge.oidc.stubs import Stubs
from edge.problem import Handler

Row = tuple[str, Mapping[str, Handler]]


def about_people(stubs: Stubs, config: OidcConfig, *, browsers: Browsers) -> Iterator[Row]:
    """Yield paths and handlers by method; paths with a fixed segment come before those with an id in its place."""
    calls = AdministrationCalls(config, browsers)
    yield from _own_accounts(stubs, calls, browsers=browsers)
    yield from _passkeys(PasskeysEndpoint(stubs, calls, browsers=browsers))
    yield from _one_time_codes(OneTimeCodesEndpoint(stubs, calls))
    yield from _provider_links(ProviderLinksEndpoint(stubs, calls))
    data = PersonalDataEndpoint(stubs, calls, browsers=browsers)
    yield "/users/{id}/personal_data", {"GET": data.get}
    yield from _users(stubs, calls)


def _own_accounts(stubs: Stubs, calls: AdministrationCalls, *, browsers: Browsers) -> Iterator[Row]:
    account = OwnAccountEndpoint(stubs, calls, browsers=browsers)

    yield "/users/{id}/mfa_token", {"POST": account.prove}
    yield "/users/{id}/self", {"PUT": account.update}
    yield "/users/{id}/self/preferred_username", {"PUT": account.update_username}
    yield "/users/{id}/self/delete", {"GET": account.check_deletion, "DELETE": account.delete}


def _passkeys(passkeys: PasskeysEndpoint) -> Iterator[Row]:
    yield "/users/webauthn_start", {"POST": passkeys.start}
    yield "/users/webauthn_finish", {"POST": passkeys.finish}
    yield "/users/{id}/webauthn/register/start", {"POST": passkeys.start_registration}
    yield "/users/{id}/webauthn/register/finish", {"POST": passkeys.finish_registration}
    yield "/users/{id}/webauthn/auth/start", {"POST": passkeys.start}
    yield "/users/{id}/webauthn/auth/finish", {"POST": passkeys.finish}
    yield "/users/{id}/webauthn/delete/{name}", {"DELETE": passkeys.delete}
    yield "/users/{id}/self/convert_passkey", {"POST": passkeys.convert}


def _provider_links(links: ProviderLinksEndpoint) -> Iterator[Row]:
    yield "/users/{id}/provider_links", {"POST": links.begin}
    yield "/users/{id}/provider_links/{provider_id}", {"DELETE": links.delete}


def _one_time_codes(codes: OneTimeCodesEndpoint) -> Iterator[Row]:
    yield "/users/{id}/one_time_codes", {"POST": codes.begin}


def _users(stubs: Stubs, calls: AdministrationCalls) -> Iterator[Row]:
    users, devices = UsersEndpoint(stubs, calls), DevicesEndpoint(stubs, calls)

    yield "/users", {"POST": users.create}
    yield "/users/{id}", {"PATCH": users.patch}
    yield "/users/{id}/devices", {"PUT": devices.rename}
