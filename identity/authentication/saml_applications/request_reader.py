"""Reads and verifies authentication requests of applications: SAML 2.0 Profiles §4.1.4.1, Bindings §3.4 and §3.5.

Without a known issuer, a valid signature where one is required, and a registered assertion consumer service there is no
response: the user sees the error.
"""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Protocol

from identity.authentication.requests.login_hint import login_hint
from identity.authentication.requests.redirection import MAX_STATE
from identity.authentication.requests.refusals import RedirectedRefusal, UnredirectableRefusal
from identity.authentication.requests.request import AuthorizationRequest, Prompt, ResponseMode, SamlRequest
from identity.authentication.saml.certificates import certificates_of
from identity.authentication.saml.names import HTTP_POST, NAME_ID_FORMATS, PERSISTENT, UNSPECIFIED
from identity.authentication.saml.redirect_binding import SentQuery
from identity.authentication.saml.refusals import Refusal, RefusedMessage
from identity.authentication.saml.response import decoded, verified_message
from identity.authentication.saml_applications.applications import SamlApplications
from identity.authentication.saml_applications.authentication_request import (
    AUTHN_REQUEST,
    AuthenticationRequest,
    issuer_of,
    read,
)
from identity.authentication.saml_applications.contexts import acr_values_of, known_classes
from identity.authentication.saml_applications.identity_provider import sign_on_of
from identity.authentication.saml_applications.responses import SamlResponses
from identity.authentication.saml_applications.statuses import Status
from identity.crypto.xml.documents import XmlElement
from identity.crypto.xml.signatures import is_signed
from identity.directory.client import Client
from identity.directory.tenants.saml_application import SamlApplication
from identity.foundation.errors import InvalidRequest
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock

MAX_REQUEST_OCTETS = 32_768
_MAX_REQUEST_CHARACTERS = MAX_REQUEST_OCTETS * 3 // 2
_SKEW, _LIFETIME = timedelta(minutes=3), timedelta(minutes=5)
_COMPARISONS = {"", "exact", "minimum"}


class Clients(Protocol):
    async def find(self, tenant: Tenant, client_id: str) -> Client | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SentMessage:
    """A message as the browser brought it: the unchanged query, or the form of the POST binding."""

    query: str = field(default="", repr=False)
    form: str = field(default="", repr=False)
    relay_state: str = ""


class SamlRequestReader:
    def __init__(
        self, applications: SamlApplications, clients: Clients, *, responses: SamlResponses, clock: Clock
    ) -> None:
        self._applications = applications
        self._clients = clients
        self._responses = responses
        self._clock = clock

    async def read(self, tenant: Tenant, sent: SentMessage) -> tuple[Client, AuthorizationRequest]:
        """Return the client and a valid request, which is not stored yet.

        Raises UnredirectableRefusal, and RedirectedRefusal with a response to the application.
        """
        try:
            return await self._read(tenant, sent)
        except RefusedMessage as refused:
            raise _refused(refused.reason) from refused

    async def _read(self, tenant: Tenant, sent: SentMessage) -> tuple[Client, AuthorizationRequest]:
        query = None if sent.form else SentQuery.of(sent.query)
        if query is None:
            element = decoded(sent.form, AUTHN_REQUEST, max_characters=_MAX_REQUEST_CHARACTERS)
        else:
            element = query.request(max_octets=MAX_REQUEST_OCTETS)
        application, client = await self._sender(tenant, issuer_of(element))
        element, is_verified = _verified(application, element, query)
        asked = read(element)
        self._expect_current(tenant, asked, is_verified=is_verified)
        relay_state = sent.relay_state if query is None else query.relay_state
        if len(relay_state) > MAX_STATE or "\0" in relay_state:
            raise _refused(f"RelayState has to have at most {MAX_STATE} characters")
        return client, await self._request(tenant, client, application, asked, relay_state=relay_state)

    async def _sender(self, tenant: Tenant, entity_id: str) -> tuple[SamlApplication, Client]:
        application = await self._applications.find(tenant, entity_id) if entity_id else None
        client = None if application is None else await self._clients.find(tenant, application.id)
        if application is None or client is None or not client.is_enabled:
            raise _refused("there is no SAML application with the entity id of the request")
        if client.follows_fapi:
            raise _refused("the security profile of the client does not permit SAML")
        return application, client

    def _expect_current(self, tenant: Tenant, asked: AuthenticationRequest, *, is_verified: bool) -> None:
        # Bindings §3.4.5.2, §3.5.5.2: a signed message has a destination.
        if asked.destination != sign_on_of(tenant) and (asked.destination or is_verified):
            raise RefusedMessage(Refusal.DESTINATION)
        now = self._clock.now()
        if not asked.issued_at - _SKEW <= now < asked.issued_at + _LIFETIME + _SKEW:
            raise RefusedMessage(Refusal.TIME)

    async def _request(
        self,
        tenant: Tenant,
        client: Client,
        application: SamlApplication,
        asked: AuthenticationRequest,
        *,
        relay_state: str,
    ) -> AuthorizationRequest:
        request = AuthorizationRequest(
            tenant_id=tenant.tenant_id,
            id="",
            client_id=client.client_id,
            redirect_uri=_acs_url(application, asked),
            response_mode=ResponseMode.FORM_POST,
            oauth_scopes=client.oauth_scopes,
            state=relay_state or None,
            saml=SamlRequest(id=asked.id, name_id_format=_name_id_format(application, asked)),
            login_hint=login_hint(asked.subject),
            prompts=(Prompt.NONE,) if asked.is_passive else (),
            requires_sign_in=asked.forces_authentication,
        )
        status = _status(application, asked)
        if status is not None:
            raise RedirectedRefusal(await self._responses.without_assertion(tenant, request, status))
        contexts = known_classes(asked.contexts or ())
        saml = SamlRequest(id=asked.id, name_id_format=_name_id_format(application, asked), contexts=contexts)
        return replace(request, saml=saml, acr_values=acr_values_of(contexts))


def _verified(
    application: SamlApplication, element: XmlElement, query: SentQuery | None
) -> tuple[XmlElement, bool]:
    """Return the request, in its signed form over the POST binding, and whether a signature was verified.

    A signature of an application without certificates cannot be verified, and does not count.
    """
    has_signature = is_signed(element) if query is None else query.is_signed
    certificates = certificates_of(application.fields.certificates)
    if not has_signature or not certificates:
        if application.fields.requires_signed_requests:
            raise RefusedMessage(Refusal.UNSIGNED)
        return element, False
    if query is None:
        return verified_message(element, certificates), True
    query.expect_signed_by(certificates)
    return element, True


def _acs_url(application: SamlApplication, asked: AuthenticationRequest) -> str:
    """Return the registered address that the request names; the default one if it names none."""
    fields = application.fields
    if asked.acs_index is not None:
        url = "" if asked.acs_url else fields.consumer_url_of(asked.acs_index)
    elif asked.acs_url:
        url = asked.acs_url if asked.acs_url in fields.consumer_urls else ""
    else:
        url = fields.consumer_urls[0]
    if not url:
        raise _refused("the assertion consumer service of the request is not registered")
    return url


def _name_id_format(application: SamlApplication, asked: AuthenticationRequest) -> str:
    """Return the requested format; the application's own if the request leaves the choice."""
    if asked.name_id_format in {"", UNSPECIFIED}:
        return application.fields.name_id_format or PERSISTENT
    return asked.name_id_format


def _status(application: SamlApplication, asked: AuthenticationRequest) -> Status | None:
    """Return the status of a request that the provider cannot meet, None for others."""
    if asked.binding not in {"", HTTP_POST}:
        return Status.UNSUPPORTED_BINDING
    is_known = asked.name_id_format in {"", *NAME_ID_FORMATS}
    if not is_known or asked.name_qualifier not in {"", application.entity_id}:
        return Status.INVALID_NAME_ID_POLICY
    is_met = asked.contexts is None or (
        asked.comparison in _COMPARISONS and bool(known_classes(asked.contexts))
    )
    return None if is_met else Status.NO_CONTEXT


def _refused(detail: str) -> UnredirectableRefusal:
    return UnredirectableRefusal(InvalidRequest(detail))
