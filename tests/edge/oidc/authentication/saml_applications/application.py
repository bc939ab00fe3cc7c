"""The service provider of pysaml2, which verifies and decrypts with the program xmlsec1."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import parse_qsl

from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from lxml import html
from saml2 import BINDING_HTTP_POST, BINDING_HTTP_REDIRECT
from saml2.client import Saml2Client
from saml2.config import SPConfig
from saml2.metadata import entity_descriptor
from saml2.saml import NAMEID_FORMAT_PERSISTENT
from saml2.xmldsig import DIGEST_SHA256, SIG_RSA_SHA256

from tests.identity.authentication.saml.idp import pair

XMLSEC = shutil.which("xmlsec1") or ""
ENTITY_ID = "https://wiki.example.com/saml"
ACS = "https://wiki.example.com/saml/acs"
SINGLE_LOGOUT = "https://wiki.example.com/saml/slo"


@dataclass(frozen=True)
class Sent:
    """A request of the application: the address of the redirect binding, or the form of the POST binding."""

    id: str
    address: str
    form: dict[str, str] = field(default_factory=dict)


class Application:
    """`name` distinguishes the keys and addresses of several applications."""

    def __init__(self, folder: Path, name: str = "wiki") -> None:
        self._folder = folder
        self.entity_id = ENTITY_ID.replace("wiki", name)
        self.acs = ACS.replace("wiki", name)
        self.single_logout = SINGLE_LOGOUT.replace("wiki", name)
        self.name_id_format = NAMEID_FORMAT_PERSISTENT
        self.signs_requests = True
        self.decrypts = False
        self._key, self._certificate = folder / "sp.key", folder / "sp.crt"
        own = pair(name)
        self._key.write_bytes(
            own.key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
        )
        self._certificate.write_bytes(own.certificate.public_bytes(Encoding.PEM))
        self._client: Any = None

    @property
    def metadata(self) -> str:
        return str(entity_descriptor(self._config()))

    def know(self, idp_metadata: str) -> None:
        """Register the metadata of the identity provider."""
        path = self._folder / "idp.xml"
        path.write_text(idp_metadata)
        self._client = Saml2Client(config=self._config(str(path)))

    def ask(self, idp: str, *, binding: str = BINDING_HTTP_REDIRECT, **asked: Any) -> Sent:
        """Make a request to the identity provider with this entity id."""
        request_id, _, bound = self._client.prepare_for_negotiated_authenticate(
            entityid=idp,
            relay_state="/pages/1",
            binding=binding,
            response_binding=BINDING_HTTP_POST,
            sign=self.signs_requests,
            sigalg=SIG_RSA_SHA256,
            digest_alg=DIGEST_SHA256,
            **asked,
        )
        if binding == BINDING_HTTP_REDIRECT:
            return Sent(request_id, str(dict(bound["headers"])["Location"]))
        return Sent(request_id, str(bound["url"]), _fields(str(bound["data"])))

    def accept(self, posted: dict[str, str], request_id: str) -> Any:
        """Verify the response to a request and return it; raises an error of pysaml2 for a refused one."""
        return self._client.parse_authn_request_response(
            posted["SAMLResponse"], BINDING_HTTP_POST, outstanding={request_id: "/"}
        )

    def logout_request(self, idp: str, address: str, response: Any) -> str:
        """Return the address that the browser is sent to, to sign out the user of an accepted response."""
        (statement,) = response.assertion.authn_statement
        _, request = self._client.create_logout_request(
            address, idp, name_id=response.name_id, session_indexes=[statement.session_index], sign=False
        )
        bound = self._client.apply_binding(
            BINDING_HTTP_REDIRECT, str(request), address, "r1", sign=True, sigalg=SIG_RSA_SHA256
        )
        return str(dict(bound["headers"])["Location"])

    def logout_status(self, answered: dict[str, str]) -> str:
        """Return the status of our response to a logout request."""
        response = self._client.parse_logout_request_response(answered["SAMLResponse"], BINDING_HTTP_REDIRECT)
        return str(response.response.status.status_code.value)

    def logged_out(self, sent: str, relay_state: str = "") -> tuple[str, list[str]]:
        """Verify our logout request, whose query is given, and return the name and the sessions in it."""
        given = dict(parse_qsl(sent))
        request = self._client.parse_logout_request(
            given["SAMLRequest"],
            BINDING_HTTP_REDIRECT,
            relay_state=relay_state or None,
            sigalg=given["SigAlg"],
            signature=given["Signature"],
        )
        return request.message.name_id.text, [index.text for index in request.message.session_index]

    def _config(self, idp_metadata: str = "") -> SPConfig:
        service = {
            "authn_requests_signed": self.signs_requests,
            "want_response_signed": True,
            "want_assertions_signed": True,
            "name_id_format": [self.name_id_format],
            "endpoints": {
                "assertion_consumer_service": [(self.acs, BINDING_HTTP_POST)],
                "single_logout_service": [(self.single_logout, BINDING_HTTP_REDIRECT)],
            },
        }
        own = {"key_file": str(self._key), "cert_file": str(self._certificate)}
        config: dict[str, Any] = {
            "entityid": self.entity_id,
            "allow_unknown_attributes": True,
            "xmlsec_binary": XMLSEC,
            "service": {"sp": service},
            **own,
        }
        if self.decrypts:
            config["encryption_keypairs"] = [own]
        if idp_metadata:
            config["metadata"] = {"local": [idp_metadata]}
        return SPConfig().load(config)


@contextmanager
def saml_application(name: str = "wiki") -> Iterator[Application]:
    with TemporaryDirectory() as folder:
        yield Application(Path(folder), name)


def _fields(page: str) -> dict[str, str]:
    inputs = html.fromstring(page).xpath("//input[@type='hidden']")
    return {each.name: each.value for each in inputs}
