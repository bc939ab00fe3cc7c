"""Maps browsers, cookies and redirects between messages and the domain."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol, TypeVar

from google.protobuf.message import Message

from gnomon.identity.v1 import authorization_service_pb2
from gnomon.identity.v1 import browser_pb2 as pb
from gnomon.identity.v1.authorization_details_pb2 import AuthorizationDetail
from gnomon.identity.v1.passkey_service_pb2 import RememberedFactor
from gnomon.identity.v1.provider_service_pb2 import OfferedProvider
from gnomon.identity.v1.screen_pb2 import Screen
from identity.access.rpc.records import message_of
from identity.access.sessions.browser import Browser
from identity.access.sessions.device_cookies import DEVICE_COOKIE_LIFETIME
from identity.access.sessions.session import Session
from identity.access.sessions.ways import way_to
from identity.authentication.authorization.asked import Reference
from identity.authentication.authorization.asked_again import asked_again
from identity.authentication.authorization.consent import ConsentQuestion, terms_of
from identity.authentication.authorization.sign_in import SignedIn
from identity.authentication.authorization.start import SignInStep
from identity.authentication.authorization.steps import SecondFactor
from identity.authentication.requests.parameters import Parameters
from identity.authentication.requests.redirect_uris import origin_of
from identity.authentication.requests.redirection import Redirection
from identity.authentication.requests.request import Prompt
from identity.authentication.rpc.authorization_details import messages_of
from identity.directory.authorization_details.detail_types import ShownDetail
from identity.directory.provider import Provider, SamlBinding
from identity.directory.tenants.sign_in_domain import TargetType
from identity.directory.tenants.sign_in_targets import Route
from server.platform.clock import Clock
from server.platform.errors import OAuthError

_BAD_REQUEST = 400

R = TypeVar("R", bound=Message)


def browser_of(message: pb.Browser) -> Browser:
    return Browser(
        cookie=message.session,
        csrf_token=message.csrf_token,
        peer_address=message.peer_address,
        remembered_factor=message.remembered_factor,
        device=message.device,
        user_agent=message.user_agent,
    )


def parameters_of(messages: Iterable[pb.Parameter]) -> Parameters:
    return Parameters.of((message.name, message.value) for message in messages)


class Referring(Protocol):
    """A request that names an authorization request, or has its parameters."""

    authorization_id: str

    @property
    def parameters(self) -> Iterable[pb.Parameter]: ...


def reference_of(request: Referring) -> Reference:
    return Reference(authorization_id=request.authorization_id, parameters=parameters_of(request.parameters))


# How operations in a browser read their parameters.
READS: Mapping[Any, Any] = {Browser: browser_of, Parameters: parameters_of, Reference: reference_of}


def redirect(redirection: Redirection) -> pb.Redirect:
    parameters = [pb.Parameter(name=name, value=value) for name, value in redirection.parameters]
    return message_of(pb.Redirect, redirection, parameters=parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offers:
    """Links that a sign-in page offers: registration and password reset; and whether it takes usernames."""

    registration: bool
    password_reset: bool
    usernames: bool = False


def sign_in_page(
    step: SignInStep,
    providers: Iterable[Provider] = (),
    *,
    screen: Screen | None,
    offers: Offers,
    takes_user_names: bool = False,
) -> authorization_service_pb2.SignInPage:
    registration = asked_again(step.client, step.request) if offers.registration else ()
    offered = tuple(providers)
    return authorization_service_pb2.SignInPage(
        authorization_id=step.authorization_id,
        client_id=step.client.client_id,
        client_name=step.client.name,
        client_uri=step.client.client_uri,
        login_hint=step.request.login_hint,
        is_signed_in=step.is_signed_in,
        ui_locales=step.request.ui_locales,
        redirect_origin=origin_of(step.request.redirect_uri),
        csrf_token=step.session.csrf_token,
        is_email_first=step.is_email_first,
        offers_password_reset=offers.password_reset,
        providers=map(offered_provider, _chosen(step.route, offered)),
        is_provider_alone=step.route.type is TargetType.PROVIDER,
        client_logo_id=step.client.logo_id,
        registration=[pb.Parameter(name=name, value=value) for name, value in registration],
        is_registration_first=offers.registration and Prompt.CREATE in step.request.prompts,
        screen=screen,
        form_origins=form_origins_of(offered),
        takes_user_names=(takes_user_names or offers.usernames) and not step.is_email_first,
    )


def second_factor(follows: SecondFactor, screen: Screen | None) -> authorization_service_pb2.SecondFactor:
    names = {"expires_in": "lifetime"}
    return message_of(authorization_service_pb2.SecondFactor, follows, names, screen=screen)


def form_origins_of(providers: Iterable[Provider]) -> list[str]:
    """Return the origins of providers that get a form from the page."""
    return sorted(set(map(_form_origin, filter(_gets_form, providers))))


def _gets_form(provider: Provider) -> bool:
    saml = provider.fields.saml
    return saml is not None and saml.binding is SamlBinding.POST


def _form_origin(provider: Provider) -> str:
    return origin_of(provider.fields.authorization_endpoint)


def _chosen(route: Route, providers: Iterable[Provider]) -> Iterable[Provider]:
    """Return the providers of the prefilled address's route, or all when the route names none."""
    chosen = {provider.id for provider in route.providers}
    return (provider for provider in providers if not chosen or provider.id in chosen)


def consent_page(
    question: ConsentQuestion, screen: Screen | None = None, details: Iterable[ShownDetail] = ()
) -> authorization_service_pb2.ConsentPage:
    """Without `details`, the authorization details have no texts."""
    terms = terms_of(question.request)
    return authorization_service_pb2.ConsentPage(
        authorization_id=question.authorization_id,
        client_id=question.client.client_id,
        client_name=question.client.name,
        client_uri=question.client.client_uri,
        scopes=terms.oauth_scopes,
        resources=terms.resources,
        claims=terms.claims,
        email=question.user.email,
        redirect_origin=origin_of(question.request.redirect_uri),
        csrf_token=question.session.csrf_token,
        client_logo_id=question.client.logo_id,
        policy_uri=question.client.policy_uri,
        tos_uri=question.client.tos_uri,
        screen=screen,
        ui_locales=question.request.ui_locales,
        user_language=question.user.language,
        authorization_details=messages_of(details)
        or [AuthorizationDetail(detail=each.encode()) for each in terms.authorization_details],
    )


def outcome_of(kind: type[R], outcome: Redirection | ConsentQuestion, **others: Any) -> R:
    """Return the response with a question about consent or a redirection, and `others`."""
    if isinstance(outcome, ConsentQuestion):
        return kind(consent=consent_page(outcome), **others)
    return kind(redirect=redirect(outcome), **others)


def signed_in_response(kind: type[R], signed_in: SignedIn, clock: Clock, **others: Any) -> R:
    """Return the response with the outcome of a sign-in and, if there is a session, its cookies and `others`."""
    session = signed_in.session
    if session is None:
        return outcome_of(kind, signed_in.outcome)
    cookie = session_cookie(signed_in.cookie, session, clock, device=signed_in.device)
    return outcome_of(kind, signed_in.outcome, cookie=cookie, **others)


def remembered_factor(value: str, lifetime: timedelta) -> RememberedFactor:
    return RememberedFactor(value=value, max_age=int(lifetime.total_seconds()))


def offered_provider(provider: Provider) -> OfferedProvider:
    return OfferedProvider(id=provider.id, name=provider.name, updated=provider.image_id or None)


def session_cookie(
    cookie: str, session: Session, clock: Clock, *, device: str = "", acting_as: str = ""
) -> pb.SessionCookie:
    """Return the cookies of a session.

    `device` is that of the browser, which is set at a sign-in. `acting_as` is the address of the user as whom a support
    person acts, empty for others.
    """
    expires_at = session.expires_at or session.idle_until
    return pb.SessionCookie(
        value=cookie,
        max_age=max(int((expires_at - clock.now()).total_seconds()), 0),
        csrf_token=session.csrf_token,
        device=device,
        device_max_age=int(DEVICE_COOKIE_LIFETIME.total_seconds()) if device else 0,
        fed_cm=way_to(cookie, session.sid) if session.authentication and not session.is_impersonated else "",
        acting_as=acting_as,
        browser_state=session.browser_state if session.authentication else "",
    )


def taken_back() -> pb.SessionCookie:
    return pb.SessionCookie(max_age=0)


def error_page(refusal: OAuthError) -> pb.ErrorPage:
    return pb.ErrorPage(status=_BAD_REQUEST, error=refusal.error, description=refusal.detail)
