"""Names of SAML 2.0: namespaces, bindings, formats, and the element builder of our own messages."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from identity.crypto.xml.documents import XmlElement, new_element

SAML: Final = "{urn:oasis:names:tc:SAML:2.0:assertion}"
SAMLP: Final = "{urn:oasis:names:tc:SAML:2.0:protocol}"
MD: Final = "{urn:oasis:names:tc:SAML:2.0:metadata}"
PROTOCOL: Final = SAMLP[1:-1]

HTTP_POST: Final = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"
HTTP_REDIRECT: Final = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
BEARER: Final = "urn:oasis:names:tc:SAML:2.0:cm:bearer"
SUCCESS: Final = "urn:oasis:names:tc:SAML:2.0:status:Success"

PERSISTENT: Final = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
TRANSIENT: Final = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
EMAIL_ADDRESS: Final = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"
UNSPECIFIED: Final = "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified"
NAME_ID_FORMATS: Final = (PERSISTENT, EMAIL_ADDRESS, UNSPECIFIED, TRANSIENT)
"""The formats that an administrator can request, best first."""

_NAMESPACES: Final = {
    "saml": SAML[1:-1],
    "samlp": SAMLP[1:-1],
    "md": MD[1:-1],
    "ds": "http://www.w3.org/2000/09/xmldsig#",
}


def root(tag: str, attributes: Mapping[str, str]) -> XmlElement:
    namespace = tag[1:].partition("}")[0]
    used = {prefix: uri for prefix, uri in _NAMESPACES.items() if uri in {namespace, SAML[1:-1]}}
    return new_element(tag, attributes, used)


def child(parent: XmlElement, tag: str, text: str = "", **attributes: str) -> XmlElement:
    element = new_element(tag, attributes, _NAMESPACES, parent=parent)
    element.text = text or None
    return element


def written(instant: datetime) -> str:
    """SAML 2.0 Core §1.3.3: in UTC."""
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
