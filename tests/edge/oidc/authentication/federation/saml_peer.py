"""The identity provider of pysaml2, which signs with the program xmlsec1."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from lxml import html
from saml2 import BINDING_HTTP_POST, BINDING_HTTP_REDIRECT
from saml2.authn_context import PASSWORDPROTECTEDTRANSPORT
from saml2.config import IdPConfig
from saml2.metadata import entity_descriptor
from saml2.saml import NAMEID_FORMAT_PERSISTENT, NameID
from saml2.server import Server
from saml2.xmldsig import DIGEST_SHA256, SIG_RSA_SHA256

from tests.identity.authentication.saml.idp import pair

XMLSEC = shutil.which("xmlsec1") or ""
ENTITY_ID, SIGN_ON = "https://idp.example.com/saml", "https://idp.example.com/sso"
LOGOUT = "https://idp.example.com/slo"
ATTRIBUTE_FORMAT = "urn:oasis:names:tc:SAML:2.0:attrname-format:uri"


@dataclass(frozen=True)
class Answer:
    """The form that the provider's page posts, and where."""

    url: str
    form: dict[str, str]


class Peer:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.bindings: tuple[str, ...] = (BINDING_HTTP_REDIRECT, BINDING_HTTP_POST)
        self._key, self._certificate = folder / "idp.key", folder / "idp.crt"
        own = pair("peer")
        self._key.write_bytes(
            own.key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
        )
        self._certificate.write_bytes(own.certificate.public_bytes(Encoding.PEM))
        self._server: Any = None

    @property
    def metadata(self) -> str:
        return str(entity_descriptor(self._config()))

    def know(self, sp_metadata: str) -> None:
        """Register our metadata."""
        path = self._folder / "sp.xml"
        path.write_text(sp_metadata)
        self._server = Server(config=self._config(str(path)))

    def answer(
        self,
        sent: str | dict[str, str],
        *,
        user: str = "alice-there",
        signs: str = "response",
        encrypts_for: str = "",
    ) -> Answer:
        """Verify the request, which is an address or a form, and sign `user` in."""
        is_redirect = isinstance(sent, str)
        given = dict(parse_qsl(urlsplit(sent).query)) if isinstance(sent, str) else sent
        request = self._server.parse_authn_request(
            given["SAMLRequest"],
            BINDING_HTTP_REDIRECT if is_redirect else BINDING_HTTP_POST,
            relay_state=given["RelayState"],
            sigalg=given.get("SigAlg"),
            signature=given.get("Signature"),
        )
        response = self._server.create_authn_response(
            {"mail": ["alice@example.com"], "givenName": ["Alice"], "sn": ["Doe"]},
            name_id=NameID(format=NAMEID_FORMAT_PERSISTENT, text=user),
            authn={"class_ref": PASSWORDPROTECTEDTRANSPORT, "authn_auth": ENTITY_ID},
            sign_response=signs == "response",
            sign_assertion=signs == "assertion",
            sign_alg=SIG_RSA_SHA256,
            digest_alg=DIGEST_SHA256,
            **self._server.response_args(request.message, [BINDING_HTTP_POST]),
        )
        text = str(response)
        if encrypts_for:
            text = self._encrypted(text, encrypts_for)
        posted = self._server.apply_binding(
            BINDING_HTTP_POST, text, request.message.assertion_consumer_service_url, given["RelayState"], True
        )
        return Answer(request.message.assertion_consumer_service_url, _fields(str(posted["data"])))

    def logout_request(self, destination: str, sid: str, user: str = "alice-there") -> str:
        """Return the address that the browser is sent to when the session has ended at the provider."""
        _, request = self._server.create_logout_request(
            destination,
            ENTITY_ID,
            name_id=NameID(format=NAMEID_FORMAT_PERSISTENT, text=user),
            session_indexes=[sid],
            sign=False,
        )
        bound = self._server.apply_binding(
            BINDING_HTTP_REDIRECT, str(request), destination, "r1", sign=True, sigalg=SIG_RSA_SHA256
        )
        return str(dict(bound["headers"])["Location"])

    def logged_out(self, address: str) -> tuple[str, list[str], str]:
        """Verify our logout request, and return the user, the sessions, and the address of the signed answer."""
        given = dict(parse_qsl(urlsplit(address).query))
        request = self._server.parse_logout_request(
            given["SAMLRequest"],
            BINDING_HTTP_REDIRECT,
            sigalg=given["SigAlg"],
            signature=given["Signature"],
        )
        answer = self._server.create_logout_response(request.message, [BINDING_HTTP_REDIRECT])
        target = self._server.response_args(request.message, [BINDING_HTTP_REDIRECT])["destination"]
        bound = self._server.apply_binding(
            *(BINDING_HTTP_REDIRECT, str(answer), target, ""), True, sign=True, sigalg=SIG_RSA_SHA256
        )
        indexes = [index.text for index in request.message.session_index]
        return request.message.name_id.text, indexes, str(dict(bound["headers"])["Location"])

    def logout_status(self, location: str) -> str:
        """Verify our answer, which is an address of the provider."""
        given = dict(parse_qsl(urlsplit(location).query))
        answer = self._server.parse_logout_request_response(given["SAMLResponse"], BINDING_HTTP_REDIRECT)
        return str(answer.response.status.status_code.value)

    def _config(self, sp_metadata: str = "") -> IdPConfig:
        policy = {"default": {"attribute_restrictions": None, "name_form": ATTRIBUTE_FORMAT}}
        config: dict[str, Any] = {
            "entityid": ENTITY_ID,
            "xmlsec_binary": XMLSEC,
            "key_file": str(self._key),
            "cert_file": str(self._certificate),
            "service": {
                "idp": {
                    "name_id_format": [NAMEID_FORMAT_PERSISTENT],
                    "want_authn_requests_signed": True,
                    "policy": policy,
                    "endpoints": {
                        "single_logout_service": [(LOGOUT, BINDING_HTTP_REDIRECT)],
                        "single_sign_on_service": [(SIGN_ON, binding) for binding in self.bindings],
                    },
                }
            },
        }
        if sp_metadata:
            config["metadata"] = {"local": [sp_metadata]}
        return IdPConfig().load(config)

    def _encrypted(self, response: str, certificate: str) -> str:
        """Encrypt the assertion of the response with AES-256-GCM and RSA-OAEP."""
        plain, template, target = (self._folder / name for name in ("plain.xml", "template.xml", "sp.crt"))
        plain.write_text(response)
        template.write_text(_TEMPLATE)
        lines = [certificate[at : at + 64] for at in range(0, len(certificate), 64)]
        target.write_text("\n".join(("-----BEGIN CERTIFICATE-----", *lines, "-----END CERTIFICATE-----", "")))
        done = subprocess.run(
            [
                *(XMLSEC, "--encrypt", "--pubkey-cert-pem", str(target), "--session-key", "aes-256"),
                *("--xml-data", str(plain), "--node-xpath", "//*[local-name()='Assertion']"),
                str(template),
            ],
            check=True,
            capture_output=True,
            text=True,
        )
        encrypted = done.stdout.partition("?>")[2].strip()
        opening = '<saml:EncryptedAssertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">'
        return encrypted.replace("<xenc:EncryptedData", f"{opening}<xenc:EncryptedData").replace(
            "</xenc:EncryptedData>", "</xenc:EncryptedData></saml:EncryptedAssertion>"
        )


@contextmanager
def saml_peer() -> Iterator[Peer]:
    with TemporaryDirectory() as folder:
        yield Peer(Path(folder))


def _fields(page: str) -> dict[str, str]:
    inputs = html.fromstring(page).xpath("//input[@type='hidden']")
    return {each.name: each.value for each in inputs}


_TEMPLATE = """<xenc:EncryptedData xmlns:xenc="http://www.w3.org/2001/04/xmlenc#"
 Type="http://www.w3.org/2001/04/xmlenc#Element">
<xenc:EncryptionMethod Algorithm="http://www.w3.org/2009/xmlenc11#aes256-gcm"/>
<ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><xenc:EncryptedKey>
<xenc:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p"/>
<xenc:CipherData><xenc:CipherValue/></xenc:CipherData></xenc:EncryptedKey></ds:KeyInfo>
<xenc:CipherData><xenc:CipherValue/></xenc:CipherData></xenc:EncryptedData>"""
