"""Administration of the SAML settings of clients."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from identity.access.callers import Actor
from identity.authentication.saml.certificates import MOST, certificate_of, text_of_certificate
from identity.authentication.saml.metadata import sp_metadata
from identity.authentication.saml.names import NAME_ID_FORMATS
from identity.clients.relying_parties import RelyingParties
from identity.delivery.http.registered_uris import expect_safe_uri
from identity.directory.client import Client
from identity.directory.tenants.saml_application import SamlApplication, SamlApplicationFields
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.searches import RecordSearch, listed
from identity.foundation.tenants import Tenant
from server.platform.errors import AlreadyExists, InvalidArgument, InvalidState, NotFound
from server.platform.records import AlreadyThere, Changed, Records

_MOST_SERVICES, _MAX_INDEX = 32, 65_535
# SAML 2.0 Core §8.3.6.
_MAX_ENTITY_ID = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlApplicationAdministration:
    applications: Records[SamlApplication]
    relying_parties: RelyingParties
    events: Events

    async def page(
        self, tenant: Tenant, wanted: RecordSearch, page_size: int, continuation_token: str
    ) -> tuple[Sequence[SamlApplication], str]:
        """Return a page by client id, and the continuation token of the next one; raises InvalidArgument."""
        return await listed(
            self.applications,
            tenant.tenant_id,
            wanted,
            page_size=page_size,
            continuation_token=continuation_token,
        )

    async def find(self, tenant: Tenant, client_id: str) -> SamlApplication:
        """Raises NotFound."""
        application = await self.applications.get(tenant.tenant_id, client_id)
        if application is None:
            raise NotFound("the client is no SAML application")
        return application

    async def put(
        self, tenant: Tenant, client_id: str, fields: SamlApplicationFields, metadata: str, *, actor: Actor
    ) -> SamlApplication:
        """Make a client a SAML application, or replace all of its settings; `metadata` is empty or that of the application.

        Raises NotFound without such a client, InvalidArgument, InvalidState, PermissionDenied, and AlreadyExists when
        another client has the entity id.
        """
        client = await self.relying_parties.changeable(tenant, client_id, actor)
        fields = _checked(_described(fields, metadata) if metadata else fields)
        before = await self.applications.get(tenant.tenant_id, client.id)
        try:
            if before is None:
                application = SamlApplication(tenant_id=tenant.tenant_id, id=client.id, fields=fields)
                kept = await self.applications.insert(application)
            else:
                kept = await self.applications.replace(replace(before, fields=fields))
        except Changed as error:
            raise InvalidState("another caller changed the application in the meantime") from error
        except AlreadyThere as error:
            raise AlreadyExists("another client has this entity id", field="entity_id") from error
        await self._tell(EventType.CREATED if before is None else EventType.CHANGED, client, actor)
        return kept

    async def delete(self, tenant: Tenant, client_id: str, *, actor: Actor) -> None:
        """Remove the SAML settings of a client; raises NotFound, InvalidState, PermissionDenied."""
        await self.find(tenant, client_id)
        client = await self.relying_parties.changeable(tenant, client_id, actor)
        await self.applications.take(tenant.tenant_id, client_id)
        await self._tell(EventType.DELETED, client, actor)

    async def _tell(self, event_type: EventType, client: Client, actor: Actor) -> None:
        await self.events.emit(
            client.tenant_id,
            event_type,
            ip=actor.peer_address or None,
            text=f"SAML settings of client {client.id}",
            client_id=client.id,
            actor=actor,
        )


def _described(fields: SamlApplicationFields, metadata: str) -> SamlApplicationFields:
    """Take everything from the metadata that it describes, and the rest from the fields."""
    found = sp_metadata(metadata)
    return replace(
        fields,
        entity_id=found.entity_id,
        consumer_services=found.consumer_services,
        single_logout_url=found.single_logout_url,
        name_id_format=fields.name_id_format or found.name_id_format,
        certificates=found.certificates,
        requires_signed_requests=fields.requires_signed_requests or found.signs_requests,
        encryption_certificate=found.encryption_certificate or fields.encryption_certificate,
    )


def _checked(fields: SamlApplicationFields) -> SamlApplicationFields:
    """Return the fields with certificates in base64 of DER; raises InvalidArgument."""
    entity_id = fields.entity_id
    if not 0 < len(entity_id) <= _MAX_ENTITY_ID or not entity_id.isprintable() or " " in entity_id:
        raise InvalidArgument("entity_id: expected the entity id of the application", field="entity_id")
    _expect_addresses(fields)
    if fields.name_id_format not in {"", *NAME_ID_FORMATS}:
        raise InvalidArgument(
            f"name_id_format: expected one of {', '.join(NAME_ID_FORMATS)}", field="name_id_format"
        )
    if len(fields.certificates) > MOST:
        raise InvalidArgument(f"certificates: expected at most {MOST}", field="certificates")
    if fields.requires_signed_requests and not fields.certificates:
        raise InvalidArgument(
            "certificates: expected one, since requests must be signed", field="certificates"
        )
    names = [attribute.name for attribute in fields.attributes]
    if len(set(names)) != len(names):
        raise InvalidArgument("attributes: expected different names", field="attributes")
    certificates = map(certificate_of, fields.certificates)
    return replace(
        fields,
        certificates=tuple(dict.fromkeys(map(text_of_certificate, certificates))),
        encryption_certificate=_encryption_certificate(fields.encryption_certificate),
    )


def _expect_addresses(fields: SamlApplicationFields) -> None:
    member, services = "consumer_services", fields.consumer_services
    if not 0 < len(services) <= _MOST_SERVICES or not all(fields.consumer_urls):
        raise InvalidArgument(f"{member}: expected 1 to {_MOST_SERVICES} addresses", field=member)
    for url in fields.consumer_urls:
        expect_safe_uri(member, url)
    indexes = [service.index for service in services]
    if len(set(indexes)) != len(indexes) or not all(0 <= index <= _MAX_INDEX for index in indexes):
        raise InvalidArgument(f"{member}: expected a different index for each", field=member)
    expect_safe_uri("single_logout_url", fields.single_logout_url)


def _encryption_certificate(text: str) -> str:
    if not text:
        return ""
    certificate = certificate_of(text)
    if not isinstance(certificate.public_key(), RSAPublicKey):
        raise InvalidArgument(
            "encryption_certificate: expected one with an RSA key", field="encryption_certificate"
        )
    return text_of_certificate(certificate)
