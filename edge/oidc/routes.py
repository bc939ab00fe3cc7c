"""All routes of the provider, in one table."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from aiohttp import hdrs, web

from edge.kept_documents import KeptDocuments
from edge.oidc.access.administration_calls import AdministrationCalls
from edge.oidc.access.admission import Admission
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.canonical_host import CanonicalHost
from edge.oidc.access.client_certificates import ClientCertificates
from edge.oidc.access.hosts import Hosts
from edge.oidc.access.peers import Peers
from edge.oidc.access.request_policy import (
    ADMINISTRATION,
    ASKED_BY_PROXY,
    BROWSER_ITSELF,
    FRAMED,
    FROM_ANY_PAGE,
    FROM_ANYWHERE,
    FROM_PROXIES,
    KEY_SET,
    METADATA,
    OWN_ORIGIN,
    OWN_PAGES,
    PROTOCOL,
    PROTOCOL_FOR_PAGES,
    PUBLIC_DOCUMENT,
    RESOURCE_METADATA,
    SIGN_OUT,
    STATIC,
    TOKEN_OF_PROXY,
)
from edge.oidc.access.support_sessions import STOP
from edge.oidc.administration.event_stream import EventStreamEndpoint
from edge.oidc.administration.images import about_images
from edge.oidc.administration.impersonation import ImpersonationEndpoint
from edge.oidc.administration.issuer_routes import declared_rows
from edge.oidc.authentication.authorization import AuthorizationEndpoint
from edge.oidc.authentication.consent import ConsentEndpoint
from edge.oidc.authentication.email_step import EmailStepEndpoint
from edge.oidc.authentication.federation import FederationEndpoint
from edge.oidc.authentication.one_time_code import OneTimeCodeEndpoint
from edge.oidc.authentication.proof_of_work import ProofOfWorkEndpoint
from edge.oidc.authentication.pushed_authorization import PushedAuthorizationEndpoint
from edge.oidc.authentication.refresh import RefreshEndpoint
from edge.oidc.authentication.session import SessionEndpoint
from edge.oidc.authentication.shared_sign_in import SharedSignInEndpoint
from edge.oidc.authentication.terms_of_use import TermsEndpoint
from edge.oidc.clients.clients import ClientsEndpoint
from edge.oidc.clients.dynamic_registration import ClientRegistrationEndpoint
from edge.oidc.clients.screens import about_screens
from edge.oidc.config import AccessConfig, OidcConfig
from edge.oidc.endpoint import Endpoint
from edge.oidc.entry import EntryEndpoint, nothing_there, robots, to_change_password
from edge.oidc.openapi.document import Row
from edge.oidc.openapi.endpoint import DescriptionEndpoint
from edge.oidc.openapi.unconnected import Unconnected
from edge.oidc.pages import PageAssets, Pages
from edge.oidc.people.account_page import AccountPageEndpoint
from edge.oidc.people.email_confirmation import EmailConfirmationEndpoint
from edge.oidc.people.letter_links import AddressChangeEndpoint, RevocationLinkEndpoint
from edge.oidc.people.password_reset import PasswordResetEndpoint
from edge.oidc.people.provisioning import PROVISIONING, about_provisioning
from edge.oidc.people.registration import RegistrationEndpoint
from edge.oidc.people.routes import about_people
from edge.oidc.prefix import PREFIX
from edge.oidc.protocol.backchannel_authentication import BackchannelAuthenticationEndpoint
from edge.oidc.protocol.client_forward_auth import ClientForwardAuthEndpoint
from edge.oidc.protocol.device import DeviceEndpoint
from edge.oidc.protocol.device_verification import DeviceVerificationEndpoint
from edge.oidc.protocol.discovery import DiscoveryEndpoint
from edge.oidc.protocol.fed_cm import FedCmEndpoint
from edge.oidc.protocol.fed_cm_assertion import FedCmAssertionEndpoint
from edge.oidc.protocol.forward_auth import ForwardAuthEndpoint
from edge.oidc.protocol.introspection import IntrospectionEndpoint
from edge.oidc.protocol.key_rotation import KeyRotationEndpoint
from edge.oidc.protocol.key_set import KeySetEndpoint
from edge.oidc.protocol.logout import LogoutEndpoint
from edge.oidc.protocol.protected_resource import PATH as PROTECTED_RESOURCE
from edge.oidc.protocol.protected_resource import ProtectedResourceEndpoint
from edge.oidc.protocol.revocation import RevocationEndpoint
from edge.oidc.protocol.saml_sign_on import SamlSignOnEndpoint
from edge.oidc.protocol.session_frame import SessionFrameEndpoint
from edge.oidc.protocol.sign_in_requests import SignInRequestsEndpoint
from edge.oidc.protocol.token import TokenEndpoint
from edge.oidc.protocol.user_info import UserInfoEndpoint
from edge.oidc.stubs import Stubs, stubs_of
from edge.problem import Handler
from server.platform.channels import Channel
from server.platform.clock import Clock, SystemClock
from server.platform.mutual_tls import MutualTlsConfig

_TENANT = f"{PREFIX}/{{tenant}}"
_VARIABLE = re.compile(r"\{(\w+)\}")
# The format of tenant ids, so that other first segments do not match.
_SLUG = "{tenant:[a-z0-9-]+}"
_OPENID = "/.well-known/openid-configuration"
_OAUTH = "/.well-known/oauth-authorization-server"

# RFC 8414 §3.1 inserts the well-known part before the issuer's path; the issuer ends with a slash.
_DISCOVERY = (
    *(f"{PREFIX}{_OPENID}", f"{PREFIX}{_OAUTH}", _OPENID, _OAUTH, f"{_OAUTH}{PREFIX}", f"{_OAUTH}{PREFIX}/"),
    *(f"{_TENANT}{_OPENID}", f"{_TENANT}{_OAUTH}", f"{_OAUTH}{_TENANT}", f"{_OAUTH}{_TENANT}/"),
)

_CHANGES = ("POST", "PUT", "PATCH", "DELETE")


def routes(
    channel: Channel,
    config: OidcConfig,
    clock: Clock | None = None,
    *,
    access: AccessConfig | None = None,
    has_tls: bool = True,
    has_fed_cm: bool = False,
    has_session_frame: bool = False,
    canonical: CanonicalHost | None = None,
    mutual_tls: MutualTlsConfig | None = None,
    kept: KeptDocuments | None = None,
) -> list[web.RouteDef]:
    """Return the routes of the provider, whose services are behind the channel.

    `has_tls` is whether browsers use https. With `has_fed_cm` the FedCM routes are included, and browsers get the login
    status; with `has_session_frame` the frame of Session Management, and browsers get its cookie. Pages are shown at
    the `canonical` host. Proxies pass certificates of clients on as `mutual_tls` says. `kept` has the documents in
    memory.
    """
    stubs, assets = stubs_of(channel), PageAssets()
    access, used = access or AccessConfig(), clock or SystemClock()
    browsers = Browsers(access, has_tls=has_tls, has_fed_cm=has_fed_cm, has_session_frame=has_session_frame)
    pages = Pages(assets, used)
    hosts = Hosts(stubs, config, peers=Peers(access.trusted_proxies), clock=used)
    admission = Admission(stubs, config, browsers=browsers, clock=used)
    certificates = ClientCertificates(mutual_tls or MutualTlsConfig())
    kept = kept or KeptDocuments()
    table = _table(
        stubs,
        config,
        access,
        browsers=browsers,
        pages=pages,
        assets=assets,
        kept=kept,
        has_fed_cm=has_fed_cm,
        has_session_frame=has_session_frame,
    )
    return [
        web.route(
            hdrs.METH_ANY,
            # The router's own variables do not match braces, which ids in paths may have.
            _VARIABLE.sub(r"{\1:[^/]+}", path),
            Endpoint(
                handlers=handlers,
                clock=used,
                hosts=hosts,
                admission=admission,
                pages=pages,
                kept=kept,
                policy=policy,
                canonical=canonical or CanonicalHost(),
                certificates=certificates,
                acting=browsers.acting,
            ).serve,
        )
        for path, policy, handlers in table
    ]


def table() -> tuple[Row, ...]:
    """Return every row, those of FedCM and the session frame among them; its endpoints reach no service."""
    assets, clock = PageAssets(), SystemClock()
    browsers, pages = Browsers(AccessConfig(), has_tls=True, has_fed_cm=True), Pages(assets, clock)
    stubs = stubs_of(Unconnected())
    return _table(
        stubs,
        OidcConfig(),
        AccessConfig(),
        browsers=browsers,
        pages=pages,
        assets=assets,
        kept=KeptDocuments(),
        has_fed_cm=True,
        has_session_frame=True,
    )


def _table(  # the parts of endpoints
    stubs: Stubs,
    config: OidcConfig,
    access: AccessConfig,
    *,
    browsers: Browsers,
    pages: Pages,
    assets: PageAssets,
    kept: KeptDocuments,
    has_fed_cm: bool,
    has_session_frame: bool,
) -> tuple[Row, ...]:
    description = DescriptionEndpoint()
    forward_auth = ClientForwardAuthEndpoint(stubs, config, peers=Peers(access.trusted_proxies), pages=pages)
    entry = EntryEndpoint(stubs, config, browsers=browsers, pages=pages)
    rows = (
        (f"{PREFIX}/openapi.json", PUBLIC_DOCUMENT, {"GET": description.get}),
        *_documents(stubs, config, assets=assets, kept=kept),
        *_rows(stubs, config, browsers=browsers, pages=pages, kept=kept),
        *_behind_proxies(forward_auth),
        *_of_deployment(stubs, config, browsers=browsers),
        *(_of_fed_cm(stubs, config, browsers=browsers) if has_fed_cm else ()),
        *(_of_session_frame(assets, browsers) if has_session_frame else ()),
        *_entries(entry),
    )
    description.describe(rows)
    return rows


def _documents(stubs: Stubs, config: OidcConfig, *, assets: PageAssets, kept: KeptDocuments) -> Iterator[Row]:
    metadata = DiscoveryEndpoint(stubs, config, kept=kept)
    resource = ProtectedResourceEndpoint(stubs, config, kept=kept)
    for path in _DISCOVERY:
        yield path, METADATA, {"GET": metadata.get}
    yield PROTECTED_RESOURCE, RESOURCE_METADATA, {"GET": resource.get}
    yield f"{PREFIX}/static/{{name}}", STATIC, {"GET": assets.get}
    yield "/favicon.ico", STATIC, {"GET": assets.get_favicon}
    yield "/robots.txt", STATIC, {"GET": robots}
    yield "/.well-known/change-password", STATIC, {"GET": to_change_password}


def _rows(
    stubs: Stubs, config: OidcConfig, *, browsers: Browsers, pages: Pages, kept: KeptDocuments
) -> Iterator[Row]:
    # Both kinds of issuers have the same handlers of these.
    declared = list(declared_rows(stubs.channel, AdministrationCalls(config, browsers)))
    for issuer in (PREFIX, _TENANT):
        for path, policy, handlers in (
            *_protocol(stubs, config, browsers=browsers, kept=kept),
            *_of_browsers(stubs, config, browsers=browsers, pages=pages),
        ):
            yield f"{issuer}{path}", policy, handlers
        for path, handlers in about_provisioning(stubs, config, browsers=browsers):
            yield f"{issuer}{path}", PROVISIONING, handlers
        for path, handlers in _merged(
            declared,
            _of_administrators(stubs, config, browsers=browsers),
            about_images(stubs, config, browsers=browsers),
            about_people(stubs, config, browsers=browsers),
            about_screens(stubs, config, browsers=browsers, pages=pages),
        ):
            yield f"{issuer}{path}", ADMINISTRATION, handlers


def _merged(
    *tables: Iterable[tuple[str, Mapping[str, Handler]]],
) -> Iterable[tuple[str, Mapping[str, Handler]]]:
    """Return the handlers of all tables by path, because some methods of a path may be declared in the contract.

    A path with a fixed segment comes before that with a variable in its place, which would take its requests.
    """
    rows: dict[str, dict[str, Handler]] = {}
    for path, handlers in chain(*tables):
        rows.setdefault(path, {}).update(handlers)
    return sorted(rows.items(), key=lambda row: [part.startswith("{") for part in row[0].split("/")])


def _protocol(stubs: Stubs, config: OidcConfig, *, browsers: Browsers, kept: KeptDocuments) -> Iterator[Row]:
    keys, user_info = KeySetEndpoint(stubs, config, kept=kept), UserInfoEndpoint(stubs, config)
    forward_auth = ForwardAuthEndpoint(stubs, config)
    device = DeviceEndpoint(stubs, config, browsers=browsers)
    registrations = ClientRegistrationEndpoint(stubs, config, browsers=browsers)

    yield "/oidc/certs", KEY_SET, {"GET": keys.get_all}
    yield "/oidc/certs/{kid}", PUBLIC_DOCUMENT, {"GET": keys.get}
    yield "/pow", PUBLIC_DOCUMENT, {"POST": ProofOfWorkEndpoint(stubs, config).post}
    yield "/oidc/token", PROTOCOL_FOR_PAGES, {"POST": TokenEndpoint(stubs, config).post}
    yield "/oidc/token/revoke", PROTOCOL_FOR_PAGES, {"POST": RevocationEndpoint(stubs, config).post}
    yield "/oidc/introspect", PROTOCOL_FOR_PAGES, {"POST": IntrospectionEndpoint(stubs, config).post}
    yield "/oidc/par", PROTOCOL_FOR_PAGES, {"POST": PushedAuthorizationEndpoint(stubs, config).post}
    yield "/oidc/userinfo", PROTOCOL_FOR_PAGES, {"GET": user_info.get, "POST": user_info.post}
    yield (
        "/oidc/forward_auth",
        TOKEN_OF_PROXY,
        {"GET": forward_auth.authorize, "POST": forward_auth.authorize},
    )
    yield "/oidc/device", PROTOCOL, {"POST": device.post}
    yield "/oidc/bc-authorize", PROTOCOL, {"POST": BackchannelAuthenticationEndpoint(stubs, config).post}
    yield "/clients_dyn", PROTOCOL_FOR_PAGES, {"POST": registrations.create}
    yield (
        "/clients_dyn/{id}",
        PROTOCOL_FOR_PAGES,
        {"GET": registrations.get, "PUT": registrations.update, "DELETE": registrations.delete},
    )


def _of_browsers(stubs: Stubs, config: OidcConfig, *, browsers: Browsers, pages: Pages) -> Iterator[Row]:
    authorization = AuthorizationEndpoint(stubs, config, browsers=browsers, pages=pages)
    email_step = EmailStepEndpoint(stubs, config, browsers=browsers, pages=pages)
    one_time_code = OneTimeCodeEndpoint(stubs, config, browsers=browsers, pages=pages)
    refresh = RefreshEndpoint(stubs, config, browsers=browsers, pages=pages)
    consent = ConsentEndpoint(stubs, config, browsers=browsers, pages=pages)
    terms = TermsEndpoint(stubs, config, browsers=browsers, pages=pages)
    logout = LogoutEndpoint(stubs, config, browsers=browsers, pages=pages)
    saml = SamlSignOnEndpoint(stubs, config, authorization, logout=logout, browsers=browsers, pages=pages)
    device = DeviceVerificationEndpoint(stubs, config, browsers=browsers, pages=pages)
    requests = SignInRequestsEndpoint(stubs, config, browsers=browsers, pages=pages)
    calls = AdministrationCalls(config, browsers)
    account = AccountPageEndpoint(stubs, calls, browsers=browsers, pages=pages)
    impersonation = ImpersonationEndpoint(stubs, calls, browsers=browsers, pages=pages)
    session = SessionEndpoint(stubs, config, browsers=browsers)
    shared_sign_in = SharedSignInEndpoint(stubs, config, browsers=browsers, pages=pages)
    federation = FederationEndpoint(stubs, config, browsers=browsers, pages=pages)
    registration = RegistrationEndpoint(stubs, config, browsers=browsers, pages=pages)
    confirmation = EmailConfirmationEndpoint(stubs, config, browsers=browsers, pages=pages)

    yield "/oidc/authorize", FROM_ANYWHERE, {"GET": authorization.get, "POST": authorization.post}
    yield "/saml/metadata", PUBLIC_DOCUMENT, {"GET": saml.metadata}
    yield "/saml/sso", FROM_ANYWHERE, {"GET": saml.get, "POST": saml.post}
    yield "/saml/slo", SIGN_OUT, {"GET": saml.logout}
    yield "/oidc/authorize/email", OWN_PAGES, {"POST": email_step.post}
    yield "/oidc/authorize/one_time_code", OWN_PAGES, {"POST": one_time_code.post}
    yield "/oidc/authorize/email_code", OWN_PAGES, {"POST": one_time_code.send}
    yield "/oidc/authorize/refresh", OWN_PAGES, {"POST": refresh.post}
    yield "/oidc/authorize/consent", OWN_PAGES, {"GET": consent.get, "POST": consent.post}
    yield "/oidc/authorize/terms", OWN_PAGES, {"GET": terms.get, "POST": terms.post}
    yield "/oidc/terms", FROM_ANY_PAGE, {"GET": terms.read}
    yield "/oidc/logout", SIGN_OUT, {"GET": logout.get, "POST": logout.post}
    yield "/oidc/session", OWN_PAGES, {"POST": session.post}
    yield "/oidc/sessioninfo", OWN_ORIGIN, {"GET": session.get}
    yield "/oidc/sessioninfo/xsrf", OWN_ORIGIN, {"GET": session.get_with_csrf_token}
    yield "/sign-in", OWN_PAGES, {"GET": shared_sign_in.get, "POST": shared_sign_in.post}
    yield "/providers/login", OWN_PAGES, {"POST": federation.login}
    yield (
        "/providers/{id}/callback",
        FROM_ANYWHERE,
        {"GET": federation.callback, "POST": federation.receive},
    )
    yield "/providers/{id}/logout", SIGN_OUT, {"GET": federation.logout, "POST": federation.logout}
    yield "/providers/{id}/metadata", PUBLIC_DOCUMENT, {"GET": federation.metadata}
    yield "/users/register", FROM_ANY_PAGE, {"GET": registration.get, "POST": registration.post}
    yield (
        "/users/request_confirmation",
        OWN_PAGES,
        {"GET": confirmation.get_form, "POST": confirmation.request},
    )
    yield (
        "/users/{id}/email_confirm/{code}",
        OWN_PAGES,
        {"GET": confirmation.get, "POST": confirmation.confirm},
    )
    yield "/device", OWN_PAGES, {"GET": device.get}
    yield "/sign-in-requests", OWN_PAGES, {"GET": requests.get, "POST": requests.post}
    yield "/account", OWN_PAGES, {"GET": account.get}
    yield "/users/{id}/impersonation", OWN_PAGES, {"POST": impersonation.start}
    yield STOP, OWN_PAGES, {"POST": impersonation.stop}
    yield "/oidc/device/verify", OWN_PAGES, {"POST": device.post}
    yield from _of_letters(stubs, config, browsers=browsers, pages=pages)


def _of_letters(stubs: Stubs, config: OidcConfig, *, browsers: Browsers, pages: Pages) -> Iterator[Row]:
    reset = PasswordResetEndpoint(stubs, config, browsers=browsers, pages=pages)
    revocation = RevocationLinkEndpoint(stubs, config, browsers=browsers, pages=pages)
    address = AddressChangeEndpoint(stubs, config, browsers=browsers, pages=pages)

    yield "/users/request_reset", OWN_PAGES, {"GET": reset.get_page, "POST": reset.ask}
    yield "/users/{id}/reset/{code}", OWN_PAGES, {"GET": reset.open}
    yield "/users/{id}/reset", OWN_PAGES, {"PUT": reset.put, "POST": reset.post_form}
    yield "/users/{id}/revoke/{code}", OWN_PAGES, {"GET": revocation.get, "POST": revocation.post}
    yield "/users/{id}/email_change/{code}", OWN_PAGES, {"GET": address.get, "POST": address.post}


def _of_administrators(
    stubs: Stubs, config: OidcConfig, *, browsers: Browsers
) -> Iterator[tuple[str, Mapping[str, Handler]]]:
    calls = AdministrationCalls(config, browsers)
    clients, rotation = ClientsEndpoint(stubs, calls), KeyRotationEndpoint(stubs, calls)
    stream = EventStreamEndpoint(stubs, config, browsers=browsers)

    yield "/clients/{id}/secret", {"PUT": clients.rotate_secret}
    yield "/oidc/rotate_jwk", {"POST": rotation.post}
    yield "/events/stream", {"GET": stream.get}


def _behind_proxies(forward_auth: ClientForwardAuthEndpoint) -> Iterator[Row]:
    for issuer in (PREFIX, _TENANT):
        # The headers are those of a browser's request to another host.
        yield f"{issuer}/clients/{{id}}/forward_auth", ASKED_BY_PROXY, {"GET": forward_auth.admit}
        yield f"{issuer}/clients/{{id}}/forward_auth/callback", FROM_PROXIES, {"GET": forward_auth.callback}


def _of_fed_cm(stubs: Stubs, config: OidcConfig, *, browsers: Browsers) -> Iterator[Row]:
    fed_cm = FedCmEndpoint(stubs, config, browsers=browsers)
    assertion = FedCmAssertionEndpoint(stubs, config, browsers=browsers)

    yield "/.well-known/web-identity", PUBLIC_DOCUMENT, {"GET": fed_cm.web_identity}
    for issuer in (PREFIX, _TENANT):
        yield f"{issuer}/fed_cm/config", PUBLIC_DOCUMENT, {"GET": fed_cm.configuration}
        yield f"{issuer}/fed_cm/accounts", BROWSER_ITSELF, {"GET": fed_cm.accounts}
        yield f"{issuer}/fed_cm/client_meta", BROWSER_ITSELF, {"GET": fed_cm.client}
        yield f"{issuer}/fed_cm/token", BROWSER_ITSELF, {"POST": assertion.token}
        yield f"{issuer}/fed_cm/disconnect", BROWSER_ITSELF, {"POST": assertion.disconnect}
        yield f"{issuer}/fed_cm/status", OWN_ORIGIN, {"GET": fed_cm.status}
        yield f"{issuer}/fed_cm/login", OWN_PAGES, {"GET": fed_cm.login}


def _of_session_frame(assets: PageAssets, browsers: Browsers) -> Iterator[Row]:
    frame = SessionFrameEndpoint(assets, browsers)
    for issuer in (PREFIX, _TENANT):
        yield f"{issuer}/oidc/check_session", FRAMED, {"GET": frame.get}


def _of_deployment(stubs: Stubs, config: OidcConfig, *, browsers: Browsers) -> Iterator[Row]:
    calls = AdministrationCalls(config, browsers)
    for path, handlers in declared_rows(stubs.channel, calls, of_deployment=True):
        yield f"{PREFIX}{path}", ADMINISTRATION, handlers


def _entries(entry: EntryEndpoint) -> Iterator[Row]:
    """Yield the entry pages, and every path below /auth that has no other route."""
    unknown = dict.fromkeys(_CHANGES, nothing_there) | {"GET": entry.to_entry}

    yield "/", FROM_ANYWHERE, {"GET": entry.start}
    yield f"{PREFIX}/", FROM_ANYWHERE, {"GET": entry.entry}
    yield f"{PREFIX}/{_SLUG}/", FROM_ANYWHERE, {"GET": entry.entry}
    for path in (f"{PREFIX}/{_SLUG}", f"{PREFIX}/{_SLUG}/{{rest:.*}}", "/auth", "/auth/{rest:.*}"):
        yield path, FROM_ANYWHERE, unknown
