"""A SAML application: the settings of a client that is a SAML 2.0 service provider."""

from dataclasses import dataclass

from identity.foundation.searches import words_of
from server.platform.records import Kind, Owner, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlAttribute:
    """An attribute of assertions, with the values of a claim or of a custom attribute of users."""

    name: str
    claim: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlConsumerService:
    """An address at which the application takes responses; requests may name it by its index."""

    url: str
    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlApplicationFields:
    """Settings by administrators.

    Of the `consumer_services` the first is the default. `certificates` are base64 of DER and carry the keys of its
    signatures. Assertions are encrypted to `encryption_certificate`, if there is one. Without `attributes` assertions
    have standard claims.
    """

    entity_id: str = ""
    consumer_services: tuple[SamlConsumerService, ...] = ()
    single_logout_url: str = ""
    name_id_format: str = ""
    certificates: tuple[str, ...] = ()
    requires_signed_requests: bool = False
    encryption_certificate: str = ""
    attributes: tuple[SamlAttribute, ...] = ()

    @property
    def consumer_urls(self) -> tuple[str, ...]:
        return tuple(service.url for service in self.consumer_services)

    def consumer_url_of(self, index: int) -> str:
        """Return the address with an index, empty without one."""
        return next((service.url for service in self.consumer_services if service.index == index), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlApplication(Record):
    """`id` is the id of the client, which has the name, the groups and the consent of the application."""

    fields: SamlApplicationFields

    @property
    def entity_id(self) -> str:
        return self.fields.entity_id

    @property
    def words(self) -> frozenset[str]:
        """Texts by whose beginnings an administrator finds the application: client id and entity id, whole and in parts."""
        return words_of(self.id, self.entity_id)


SAML_APPLICATIONS = Kind(
    SamlApplication,
    "saml_application",
    unique=("entity_id",),
    words=("words",),
    owners=(Owner("client"),),
)
