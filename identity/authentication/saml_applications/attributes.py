"""Attributes of assertions, from the claims of a user: SAML 2.0 Core §2.7.3."""

import re
from collections.abc import Iterator, Mapping

import msgspec

from identity.access.tokens.claims import PERSON_CLAIMS, Document, person_claims
from identity.access.tokens.custom_claims import CUSTOM, Asked, CustomClaims
from identity.authentication.saml.names import SAML, child
from identity.crypto.xml.documents import XmlElement
from identity.directory.client import Client
from identity.directory.subjects import Subjects
from identity.directory.tenants.saml_application import SamlApplicationFields, SamlAttribute
from identity.directory.user import User
from identity.foundation.tenants import Tenant

Claims = Mapping[str, object]

_STANDARD = tuple(
    SamlAttribute(name=name, claim=name)
    for name in ("email", "name", "given_name", "family_name", "preferred_username", "groups")
)
_BASIC = "urn:oasis:names:tc:SAML:2.0:attrname-format:basic"
_URI = "urn:oasis:names:tc:SAML:2.0:attrname-format:uri"
# Core §8.2.2: names that are URIs.
_URI_SCHEMES = ("urn:", "http:", "https:")
# XML 1.0 §2.2: no document has other characters.
_NO_CHARACTERS = re.compile("[^\\t\\n\\r\\x20-\\uD7FF\\uE000-\\uFFFD\\U00010000-\\U0010FFFF]")


class AttributeClaims:
    """Claims that an application may get: those that the scopes of its client open, as in userinfo."""

    def __init__(self, custom: CustomClaims, subjects: Subjects) -> None:
        self._custom = custom
        self._subjects = subjects

    async def of(self, tenant: Tenant, client: Client, user: User) -> Claims:
        """Leave out an unconfirmed address: applications take it for the user's own."""
        subject = self._subjects.of(tenant, client, user.user_id)
        asked = Asked(tenant=tenant, client=client, user=user, oauth_scopes=client.oauth_scopes)
        placed = dict((await self._custom.of(asked))[Document.USER_INFO])
        below = placed.pop(CUSTOM, {})
        person = person_claims(
            user,
            Document.USER_INFO,
            issuer=tenant.issuer,
            subject=subject,
            oauth_scopes=client.oauth_scopes,
            rules=PERSON_CLAIMS,
        )
        if not user.is_email_verified:
            person.pop("email", None)
        return {**placed, **(below if isinstance(below, Mapping) else {}), **person, "sub": subject}


def write_attributes(assertion: XmlElement, fields: SamlApplicationFields, claims: Claims) -> None:
    """Append a statement with the attributes that have values."""
    found = [
        (attribute.name, values)
        for attribute in fields.attributes or _STANDARD
        if (values := [text for text in map(xml_text, _texts(claims.get(attribute.claim))) if text])
    ]
    if not found:
        return
    statement = child(assertion, f"{SAML}AttributeStatement")
    for name, values in found:
        name_format = _URI if name.startswith(_URI_SCHEMES) else _BASIC
        element = child(statement, f"{SAML}Attribute", Name=name, NameFormat=name_format)
        for value in values:
            child(element, f"{SAML}AttributeValue", value)


def xml_text(text: str) -> str:
    """Return the text without characters that no XML document has."""
    return _NO_CHARACTERS.sub("", text)


def _texts(value: object) -> Iterator[str]:
    match value:
        case None:
            pass
        case str():
            yield value
        case msgspec.Raw():
            yield from _texts(msgspec.json.decode(value))
        case list() | tuple():
            for each in value:
                yield from _texts(each)
        case _:
            yield msgspec.json.encode(value).decode()
