"""Single logout over the redirect binding: SAML 2.0 Core §3.7, Profiles §4.4.

A signed request of an application ends the session of the browser that brings it, if it names that session or its user.
When a session ends at the provider, the browser brings a request to each application of the session.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol
from urllib.parse import quote, urlencode

from identity.access.sessions.session import Session
from identity.authentication.requests.redirection import MAX_STATE, Redirection
from identity.authentication.requests.request import ResponseMode
from identity.authentication.saml.certificates import certificates_of
from identity.authentication.saml.logout_messages import (
    LOGOUT_REQUEST,
    UNKNOWN_PRINCIPAL,
    current_until,
    logout_response,
    session_indexes_of,
)
from identity.authentication.saml.names import (
    EMAIL_ADDRESS,
    NAME_ID_FORMATS,
    PERSISTENT,
    SAML,
    SAMLP,
    child,
    root,
    written,
)
from identity.authentication.saml.redirect_binding import SentQuery, deflated, signed_query
from identity.authentication.saml.refusals import Refusal, RefusedMessage
from identity.authentication.saml.subjects import name_id_of
from identity.authentication.saml_applications.applications import SamlApplications
from identity.authentication.saml_applications.authentication_request import issuer_of
from identity.authentication.saml_applications.identity_provider import entity_id_of, logout_of
from identity.authentication.saml_applications.name_ids import NameIds
from identity.authentication.saml_applications.request_reader import MAX_REQUEST_OCTETS
from identity.authentication.saml_applications.signing_keys import SamlSigningKeys
from identity.crypto.xml.documents import MalformedXml, XmlElement, text_of
from identity.directory.client import Client
from identity.directory.tenants.saml_application import SamlApplication
from identity.directory.user import User, UserId
from identity.foundation.errors import InvalidRequest
from identity.foundation.randomness import Randomness
from identity.foundation.single_use import SingleUse
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock

_ID_LENGTH = 40
_SKEW, _LIFETIME = timedelta(minutes=3), timedelta(minutes=5)


class Clients(Protocol):
    async def find(self, tenant: Tenant, client_id: str) -> Client | None: ...


class Users(Protocol):
    async def find(self, tenant: Tenant, user_id: UserId) -> User | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedSamlLogout:
    """A verified request; without `session_indexes` it means the user of the name."""

    id: str
    application: SamlApplication
    client: Client
    name_id: str
    session_indexes: tuple[str, ...]
    relay_state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlApplicationLogout:
    applications: SamlApplications
    clients: Clients
    users: Users
    keys: SamlSigningKeys
    name_ids: NameIds
    single_use: SingleUse
    clock: Clock
    randomness: Randomness

    async def read(self, tenant: Tenant, query: str) -> RequestedSamlLogout:
        """Raises InvalidRequest for a request that no application of the tenant signed, or that is not current."""
        try:
            return await self._read(tenant, query)
        except RefusedMessage as refused:
            raise InvalidRequest(refused.reason) from refused
        except (MalformedXml, ValueError) as error:
            raise InvalidRequest(Refusal.MALFORMED) from error

    async def is_named(self, tenant: Tenant, requested: RequestedSamlLogout, session: Session) -> bool:
        """Whether the request names the session, or its user."""
        if requested.session_indexes:
            index = self.name_ids.session_index(tenant, requested.client, session)
            return index in requested.session_indexes
        user = await self.users.find(tenant, UserId(session.user_id))
        if user is None:
            return False
        client = requested.client
        names = {
            self.name_ids.of(each, tenant, client, user=user, session=session) for each in NAME_ID_FORMATS
        }
        return requested.name_id in names - {""}

    async def response(
        self, tenant: Tenant, requested: RequestedSamlLogout, *, is_ended: bool
    ) -> Redirection | None:
        """Return the way back to the application; None for one without an address of single logout."""
        url = requested.application.fields.single_logout_url
        if not url:
            return None
        element = logout_response(
            requested.id,
            issuer=entity_id_of(tenant),
            destination=url,
            at=self.clock.now(),
            problem="" if is_ended else UNKNOWN_PRINCIPAL,
        )
        state = [("RelayState", requested.relay_state)] if requested.relay_state else []
        parameters = await self._signed(tenant, [("SAMLResponse", deflated(element)), *state])
        return Redirection(url, ResponseMode.QUERY, tuple(parameters))

    async def uri(self, tenant: Tenant, client: Client, session: Session) -> str:
        """Return the address of the application with a logout request for an ended session; empty for none."""
        application = await self.applications.of_client(tenant, client)
        user = await self.users.find(tenant, UserId(session.user_id))
        if application is None or user is None or not application.fields.single_logout_url:
            return ""
        url = application.fields.single_logout_url
        element = self._request(tenant, application, client, user=user, session=session)
        parameters = await self._signed(tenant, [("SAMLRequest", deflated(element))])
        return f"{url}{'&' if '?' in url else '?'}{urlencode(parameters, quote_via=quote)}"

    async def _read(self, tenant: Tenant, query: str) -> RequestedSamlLogout:
        sent = SentQuery.of(query)
        element = sent.request(max_octets=MAX_REQUEST_OCTETS)
        application, client = await self._sender(tenant, issuer_of(element))
        sent.expect_signed_by(certificates_of(application.fields.certificates))
        if len(sent.relay_state) > MAX_STATE:
            raise RefusedMessage(Refusal.MALFORMED)
        until = current_until(
            element,
            issuer=application.entity_id,
            destination=logout_of(tenant),
            now=self.clock.now(),
            skew=_SKEW,
        )
        pair = await self.keys.of(tenant)
        requested = RequestedSamlLogout(
            id=element.get("ID", ""),
            application=application,
            client=client,
            name_id=text_of(name_id_of(element, pair.key)),
            session_indexes=session_indexes_of(element),
            relay_state=sent.relay_state,
        )
        identifier = f"{client.id} {requested.id}"
        if not await self.single_use.spend(tenant, "saml application logout", identifier, until=until):
            raise RefusedMessage(Refusal.REPLAY)
        return requested

    async def _sender(self, tenant: Tenant, entity_id: str) -> tuple[SamlApplication, Client]:
        application = await self.applications.find(tenant, entity_id) if entity_id else None
        client = None if application is None else await self.clients.find(tenant, application.id)
        if application is None or client is None:
            raise RefusedMessage(Refusal.ISSUER)
        return application, client

    def _request(
        self, tenant: Tenant, application: SamlApplication, client: Client, *, user: User, session: Session
    ) -> XmlElement:
        now = self.clock.now()
        element = root(
            LOGOUT_REQUEST,
            {
                "ID": f"_{self.randomness.alphanumeric(_ID_LENGTH)}",
                "Version": "2.0",
                "IssueInstant": written(now),
                "NotOnOrAfter": written(now + _LIFETIME),
                "Destination": application.fields.single_logout_url,
            },
        )
        child(element, f"{SAML}Issuer", entity_id_of(tenant))
        name_id_format = application.fields.name_id_format or PERSISTENT
        if name_id_format == EMAIL_ADDRESS and not user.is_email_verified:
            name_id_format = PERSISTENT
        name = self.name_ids.of(name_id_format, tenant, client, user=user, session=session)
        child(element, f"{SAML}NameID", name, Format=name_id_format)
        child(element, f"{SAMLP}SessionIndex", self.name_ids.session_index(tenant, client, session))
        return element

    async def _signed(self, tenant: Tenant, parameters: list[tuple[str, str]]) -> list[tuple[str, str]]:
        return signed_query(parameters, (await self.keys.of(tenant)).key)
