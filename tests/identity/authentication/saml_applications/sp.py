"""A SAML application for tests: writes requests part by part, so that each part can be wrong."""

import base64
import zlib
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote, urlencode

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from lxml import etree
from lxml.etree import _Element as XmlElement

from identity.access.sessions.browser import Browser
from identity.authentication.authorization.start import SignInStep
from identity.authentication.requests.redirection import Redirection
from identity.authentication.saml_applications.request_reader import SentMessage
from identity.directory.tenants.saml_application import (
    SAML_APPLICATIONS,
    SamlApplication,
    SamlApplicationFields,
    SamlConsumerService,
)
from server.platform.call import TenantId
from tests.identity.authentication.saml.idp import SAML, SAMLP, Pair, pair
from tests.identity.browsers import ISSUER, NEW_BROWSER, NOON, Provider, app

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

DEFAULT = TenantId("default")
ENTITY_ID, ACS = "https://app.example.com/saml", "https://app.example.com/acs"
SINGLE_LOGOUT = "https://app.example.com/slo"
SIGN_ON, METADATA = f"{ISSUER}saml/sso", f"{ISSUER}saml/metadata"
POST = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"
NAMES = {"saml": SAML, "samlp": SAMLP}
_RSA_SHA256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"


@dataclass(frozen=True)
class Asked:
    """What a request says; a part that is None is left out."""

    id: str = "_request"
    issuer: str | None = ENTITY_ID
    destination: str | None = SIGN_ON
    issued: timedelta = timedelta()
    acs_url: str | None = ACS
    acs_index: str | None = None
    binding: str | None = POST
    flags: str = ""
    inner: str = ""
    version: str = "2.0"
    now: datetime = NOON

    def but(self, **changes: Any) -> "Asked":
        return replace(self, **changes)


def request(asked: Asked) -> XmlElement:
    at = (asked.now + asked.issued).strftime("%Y-%m-%dT%H:%M:%SZ")
    named = {
        "Destination": asked.destination,
        "AssertionConsumerServiceURL": asked.acs_url,
        "AssertionConsumerServiceIndex": asked.acs_index,
        "ProtocolBinding": asked.binding,
    }
    attributes = "".join(f' {name}="{value}"' for name, value in named.items() if value is not None)
    issuer = "" if asked.issuer is None else f"<saml:Issuer>{asked.issuer}</saml:Issuer>"
    return etree.fromstring(
        f'<samlp:AuthnRequest xmlns:samlp="{SAMLP}" xmlns:saml="{SAML}" ID="{asked.id}"'
        f' Version="{asked.version}" IssueInstant="{at}"{attributes} {asked.flags}>'
        f"{issuer}{asked.inner}</samlp:AuthnRequest>"
    )


def query(element: XmlElement | bytes, relay_state: str = "", by: Pair | None = None) -> SentMessage:
    """Return the message of the redirect binding, signed if a pair is given."""
    octets = element if isinstance(element, bytes) else etree.tostring(element)
    deflate = zlib.compressobj(wbits=-15)
    message = base64.b64encode(deflate.compress(octets) + deflate.flush()).decode()
    parameters = [("SAMLRequest", message)]
    if relay_state:
        parameters.append(("RelayState", relay_state))
    if by is None:
        return SentMessage(query=urlencode(parameters, quote_via=quote))
    parameters.append(("SigAlg", _RSA_SHA256))
    text = urlencode(parameters, quote_via=quote)
    signature = cast("RSAPrivateKey", by.key).sign(text.encode(), PKCS1v15(), hashes.SHA256())
    return SentMessage(query=f"{text}&Signature={quote(base64.b64encode(signature).decode(), safe='')}")


def form(element: XmlElement | bytes, relay_state: str = "") -> SentMessage:
    """Return the message of the POST binding."""
    octets = element if isinstance(element, bytes) else etree.tostring(element)
    return SentMessage(form=base64.b64encode(octets).decode(), relay_state=relay_state)


class ApplicationFlow:
    """`app` is the application."""

    def __init__(self) -> None:
        self.provider = Provider()

    async def furnish(self, client: dict[str, Any] | None = None, **fields: Any) -> None:
        await self.provider.register(app(**(client or {})))
        services = (SamlConsumerService(url=ACS, index=1), SamlConsumerService(url=f"{ACS}/2", index=3))
        settings = SamlApplicationFields(entity_id=ENTITY_ID, consumer_services=services)
        application = SamlApplication(tenant_id=DEFAULT, id="app", fields=replace(settings, **fields))
        await self.provider.store.of(SAML_APPLICATIONS).insert(application)

    async def begin(self, sent: SentMessage, browser: Browser = NEW_BROWSER) -> SignInStep | Redirection:
        return await self.provider.authorization_start.begin_saml(self.provider.tenant, sent, browser)

    async def sign_in(self, sent: SentMessage) -> tuple[Redirection, Browser]:
        """Sign `alice` in, and return the way back to the application and the browser."""
        step = await self.begin(sent)
        assert isinstance(step, SignInStep)
        browser = replace(NEW_BROWSER, cookie=step.cookie, csrf_token=step.session.csrf_token)
        signed_in = await self.provider.submit(step, browser)
        assert isinstance(signed_in.outcome, Redirection)
        return signed_in.outcome, replace(browser, cookie=signed_in.cookie)


def response_of(redirection: Redirection) -> XmlElement:
    return etree.fromstring(base64.b64decode(dict(redirection.parameters)["SAMLResponse"]))


def statuses_of(redirection: Redirection) -> list[str]:
    """Return the last words of the status codes."""
    codes = response_of(redirection).iterfind(".//samlp:StatusCode", NAMES)
    return [str(code.get("Value")).rpartition(":")[2] for code in codes]


def text_of(redirection: Redirection, path: str) -> str | None:
    return response_of(redirection).findtext(f"saml:Assertion/{path}", None, NAMES)


def good_pair() -> Pair:
    return pair("application")
