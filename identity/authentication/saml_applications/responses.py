"""Responses to applications: SAML 2.0 Core §3.3.3, Profiles §4.1.4.2.

The provider signs the assertion and the response, since applications differ in which signature they verify. A request has
one response with an assertion.
"""

import base64
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from identity.access.sessions.session import Authentication, Session
from identity.authentication.requests.redirection import Redirection
from identity.authentication.requests.request import AuthorizationRequest, ResponseMode, SamlRequest
from identity.authentication.saml.certificates import certificate_of
from identity.authentication.saml.names import (
    BEARER,
    PERSISTENT,
    SAML,
    SAMLP,
    SUCCESS,
    TRANSIENT,
    child,
    root,
    written,
)
from identity.authentication.saml_applications.applications import SamlApplications
from identity.authentication.saml_applications.attributes import (
    AttributeClaims,
    Claims,
    write_attributes,
)
from identity.authentication.saml_applications.contexts import class_of
from identity.authentication.saml_applications.identity_provider import entity_id_of
from identity.authentication.saml_applications.name_ids import NameIds
from identity.authentication.saml_applications.signing_keys import SamlSigningKeys, SigningPair
from identity.authentication.saml_applications.statuses import Status, status_of
from identity.crypto.xml.documents import XmlElement, serialized
from identity.crypto.xml.encryption import encrypted
from identity.crypto.xml.signatures import placeholder, signed
from identity.directory.client import Client
from identity.directory.tenants.saml_application import SamlApplication
from identity.directory.user import User, UserId
from identity.foundation.errors import ProtocolError
from identity.foundation.events.config import EventsConfig
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.randomness import Randomness
from identity.foundation.single_use import SingleUse
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import Unauthenticated

_ID_LENGTH = 40
_EARLIEST, _LIFETIME = timedelta(minutes=1), timedelta(minutes=5)
# Longer than a request waits for the sign-in and the consent of its user.
_SPENT_FOR = timedelta(hours=2)


class Users(Protocol):
    async def find(self, tenant: Tenant, user_id: UserId) -> User | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """Content of an assertion."""

    tenant: Tenant
    application: SamlApplication
    request: AuthorizationRequest
    saml: SamlRequest
    authentication: Authentication
    session_index: str
    session_end: datetime | None
    context_class: str
    name_id: str
    claims: Claims = field(repr=False)
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlResponses:
    keys: SamlSigningKeys
    applications: SamlApplications
    users: Users
    name_ids: NameIds
    attribute_claims: AttributeClaims
    single_use: SingleUse
    events: Events
    events_config: EventsConfig
    clock: Clock
    randomness: Randomness

    async def with_assertion(
        self,
        tenant: Tenant,
        client: Client,
        request: AuthorizationRequest,
        saml: SamlRequest,
        session: Session,
    ) -> Redirection:
        """Answer with an assertion about the signed-in user, or with a status if the request cannot be met.

        Raises Unauthenticated when the request was answered before, or its application or user was removed.
        """
        application = await self.applications.of_client(tenant, client)
        authentication = session.authentication
        user = await self.users.find(tenant, UserId(session.user_id))
        if application is None or authentication is None or user is None:
            raise Unauthenticated("the application or the user was removed", cause="SESSION_ENDED")
        if request.redirect_uri not in application.fields.consumer_urls:
            raise Unauthenticated("the assertion consumer service was removed", cause="SESSION_ENDED")
        context_class = class_of(authentication.acr, saml.contexts)
        if context_class is None:
            return await self.without_assertion(tenant, request, Status.NO_CONTEXT)
        name_id = self.name_ids.of(saml.name_id_format, tenant, client, user=user, session=session)
        if not name_id:
            return await self.without_assertion(tenant, request, Status.INVALID_NAME_ID_POLICY)
        await self._spend(tenant, client, saml)
        await self._report(tenant, client, user)
        answer = _Answer(
            tenant=tenant,
            application=application,
            request=request,
            saml=saml,
            authentication=authentication,
            session_index=self.name_ids.session_index(tenant, client, session),
            session_end=session.expires_at,
            context_class=context_class,
            name_id=name_id,
            claims=await self.attribute_claims.of(tenant, client, user),
            now=self.clock.now(),
        )
        pair = await self.keys.of(tenant)
        response = self._response(tenant, request, SUCCESS)
        response.append(self._protected(self._assertion(answer, pair), application))
        return self._sent(request, response, pair)

    async def refuse(
        self, tenant: Tenant, request: AuthorizationRequest, error: ProtocolError
    ) -> Redirection:
        """Answer with the status for an error of the sign-in."""
        return await self.without_assertion(tenant, request, status_of(request, error))

    async def without_assertion(
        self, tenant: Tenant, request: AuthorizationRequest, status: Status
    ) -> Redirection:
        first, second = status.value
        response = self._response(tenant, request, first, second)
        return self._sent(request, response, await self.keys.of(tenant))

    async def _spend(self, tenant: Tenant, client: Client, saml: SamlRequest) -> None:
        until = self.clock.now() + _SPENT_FOR
        if not await self.single_use.spend(tenant, "saml request", f"{client.id} {saml.id}", until=until):
            raise Unauthenticated("the request of the application was answered before", cause="SESSION_ENDED")

    async def _report(self, tenant: Tenant, client: Client, user: User) -> None:
        """Emit an event if configured; it costs one record for every assertion."""
        if self.events_config.generate_token_issued:
            await self.events.emit(
                tenant.tenant_id,
                EventType.TOKEN_ISSUED,
                text=f"saml / {client.id} / {user.id}",
                user_id=user.id,
                client_id=client.id,
            )

    def _response(
        self, tenant: Tenant, request: AuthorizationRequest, status: str, second: str = ""
    ) -> XmlElement:
        attributes = self._attributes(self.clock.now()) | {"Destination": request.redirect_uri}
        if request.saml is not None:
            attributes["InResponseTo"] = request.saml.id
        response = root(f"{SAMLP}Response", attributes)
        child(response, f"{SAML}Issuer", entity_id_of(tenant))
        response.append(placeholder())
        code = child(child(response, f"{SAMLP}Status"), f"{SAMLP}StatusCode", Value=status)
        if second:
            child(code, f"{SAMLP}StatusCode", Value=second)
        return response

    def _assertion(self, answer: _Answer, pair: SigningPair) -> XmlElement:
        element = root(f"{SAML}Assertion", self._attributes(answer.now))
        child(element, f"{SAML}Issuer", entity_id_of(answer.tenant))
        element.append(placeholder())
        _write_subject(element, answer)
        _write_conditions(element, answer)
        _write_statement(element, answer)
        write_attributes(element, answer.application.fields, answer.claims)
        return signed(element, pair.key, pair.certificate)

    def _protected(self, assertion: XmlElement, application: SamlApplication) -> XmlElement:
        """Return the assertion, encrypted if the application wants that."""
        if not application.fields.encryption_certificate:
            return assertion
        key = certificate_of(application.fields.encryption_certificate).public_key()
        # `clients.saml_applications` keeps no other certificate.
        assert isinstance(key, RSAPublicKey)  # noqa: S101
        around = root(f"{SAML}EncryptedAssertion", {})
        around.append(encrypted(assertion, key, self.randomness))
        return around

    def _sent(self, request: AuthorizationRequest, response: XmlElement, pair: SigningPair) -> Redirection:
        message = base64.b64encode(serialized(signed(response, pair.key, pair.certificate))).decode()
        relay_state = () if request.state is None else (("RelayState", request.state),)
        return Redirection(
            request.redirect_uri, ResponseMode.FORM_POST, (("SAMLResponse", message), *relay_state)
        )

    def _attributes(self, now: datetime) -> dict[str, str]:
        return {"ID": self._id(), "Version": "2.0", "IssueInstant": written(now)}

    def _id(self) -> str:
        # An XML id begins with no digit.
        return f"_{self.randomness.alphanumeric(_ID_LENGTH)}"


def _write_subject(assertion: XmlElement, answer: _Answer) -> None:
    subject = child(assertion, f"{SAML}Subject")
    qualifiers = {}
    if answer.saml.name_id_format in {PERSISTENT, TRANSIENT}:
        # Core §8.3.7, §8.3.8: the name counts between the two.
        qualifiers = {
            "NameQualifier": entity_id_of(answer.tenant),
            "SPNameQualifier": answer.application.entity_id,
        }
    child(subject, f"{SAML}NameID", answer.name_id, Format=answer.saml.name_id_format, **qualifiers)
    confirmation = child(subject, f"{SAML}SubjectConfirmation", Method=BEARER)
    child(
        confirmation,
        f"{SAML}SubjectConfirmationData",
        InResponseTo=answer.saml.id,
        NotOnOrAfter=written(answer.now + _LIFETIME),
        Recipient=answer.request.redirect_uri,
    )


def _write_conditions(assertion: XmlElement, answer: _Answer) -> None:
    conditions = child(
        assertion,
        f"{SAML}Conditions",
        NotBefore=written(answer.now - _EARLIEST),
        NotOnOrAfter=written(answer.now + _LIFETIME),
    )
    restriction = child(conditions, f"{SAML}AudienceRestriction")
    child(restriction, f"{SAML}Audience", answer.application.entity_id)


def _write_statement(assertion: XmlElement, answer: _Answer) -> None:
    end = {} if answer.session_end is None else {"SessionNotOnOrAfter": written(answer.session_end)}
    statement = child(
        assertion,
        f"{SAML}AuthnStatement",
        AuthnInstant=written(answer.authentication.at),
        SessionIndex=answer.session_index,
        **end,
    )
    context = child(statement, f"{SAML}AuthnContext")
    child(context, f"{SAML}AuthnContextClassRef", answer.context_class)
