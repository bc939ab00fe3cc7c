"""Administration of SAML providers, and our metadata."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from lxml import etree

from identity.authentication.federation.config import FederationConfig
from identity.directory.provider import PROVIDERS
from identity.foundation.provider_config import ProviderConfig, Scheme
from server.platform.call import TenantId
from tests.edge.oidc.administration.administrator import Administrator
from tests.edge.oidc.conftest import Http
from tests.identity.authentication.saml.idp import ENTITY_ID, MAIL, PERSISTENT, SIGN_ON, pair
from tests.identity.deployment import CONFIG, LOOPBACK, Deployment, deployed

DEFAULT = TenantId("default")
MD = {"md": "urn:oasis:names:tc:SAML:2.0:metadata", "ds": "http://www.w3.org/2000/09/xmldsig#"}
REDIRECT = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
POST = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"


def key(text: str, use: str = 'use="signing"') -> str:
    return (
        f'<md:KeyDescriptor {use}><ds:KeyInfo xmlns:ds="{MD["ds"]}"><ds:X509Data><ds:X509Certificate>{text}'
        "</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>"
    )


def metadata(*keys: str, binding: str = REDIRECT, wants_signed: str = "false") -> str:
    return (
        f'<md:EntityDescriptor xmlns:md="{MD["md"]}" entityID="{ENTITY_ID}"><md:IDPSSODescriptor'
        ' protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"'
        f' WantAuthnRequestsSigned="{wants_signed}">{"".join(keys or (key(pair().text),))}'
        f'<md:SingleLogoutService Binding="{REDIRECT}" Location="https://idp.example.com/slo"/>'
        f'<md:SingleSignOnService Binding="{binding}" Location="{SIGN_ON}"/>'
        "</md:IDPSSODescriptor></md:EntityDescriptor>"
    )


def provider(**saml: Any) -> dict[str, Any]:
    return {"name": "Umbrella", "typ": "saml", "enabled": True, "saml": saml}


FIELDS = provider(certificates=[pair().text]) | {"issuer": ENTITY_ID, "authorization_endpoint": SIGN_ON}


@pytest.fixture
async def deployment() -> AsyncIterator[Deployment]:
    identity = ProviderConfig(public_url="id.example.com", scheme=Scheme.HTTP)
    federation = FederationConfig(enabled=True)
    config = replace(CONFIG, identity=identity, federation=federation, outgoing=LOOPBACK)
    async with deployed(config) as running:
        yield running


@pytest.fixture
async def documents() -> AsyncIterator[tuple[str, dict[str, str]]]:
    """An address, and the documents that are served below it."""
    served: dict[str, str] = {}

    async def serve(request: web.Request) -> web.Response:
        return web.Response(text=served[request.path])

    app = web.Application()
    app.router.add_get("/{name}", serve)
    async with TestServer(app) as server:
        yield f"http://127.0.0.1:{server.port}", served


async def created(administrator: Administrator, body: dict[str, Any]) -> dict[str, Any]:
    answer = await administrator.send("POST", "providers/create", body)
    assert answer.status == 200, await answer.text()
    return dict(await answer.json())


async def test_a_provider_is_registered_by_its_fields(administrator: Administrator) -> None:
    kept = await created(administrator, FIELDS)

    assert kept["issuer"] == ENTITY_ID
    assert kept["saml"] == {
        "certificates": [pair().text],
        "binding": "redirect",
        "single_logout_endpoint": None,
        "name_id_format": None,
        "send_logout_requests": False,
        "sign_requests": True,
        "require_encryption": False,
        "clock_skew_seconds": 60,
        "subject_attribute": None,
        "email_attribute": None,
        "given_name_attribute": None,
        "family_name_attribute": None,
        "trust_email": False,
    }
    assert await (await administrator.send("POST", "providers")).json() == [kept]


async def test_a_provider_is_registered_by_its_metadata(administrator: Administrator) -> None:
    others = key("AAAA", 'use="encryption"')
    document = metadata(key(pair("old").text, ""), key(pair().text), others, wants_signed="true")

    kept = await created(
        administrator, provider(metadata=document, email_attribute=MAIL, sign_requests=False)
    )

    assert (kept["issuer"], kept["authorization_endpoint"]) == (ENTITY_ID, SIGN_ON)
    assert kept["saml"]["certificates"] == [pair("old").text, pair().text]
    assert kept["saml"]["single_logout_endpoint"] == "https://idp.example.com/slo"
    assert (kept["saml"]["email_attribute"], kept["saml"]["sign_requests"]) == (MAIL, True)


async def test_metadata_with_the_post_binding_alone(administrator: Administrator) -> None:
    kept = await created(administrator, provider(metadata=metadata(binding=POST)))

    assert kept["saml"]["binding"] == "post"


async def test_metadata_is_read_from_its_address(
    administrator: Administrator, documents: tuple[str, dict[str, str]]
) -> None:
    address, served = documents
    served["/metadata"] = metadata()

    kept = await created(administrator, provider(metadata_url=f"{address}/metadata"))
    served["/metadata"] = metadata(key(pair("new").text))
    again = provider(metadata_url=f"{address}/metadata")
    changed = await administrator.send("PUT", f"providers/{kept['id']}", again)

    assert kept["issuer"] == ENTITY_ID
    assert (await changed.json())["saml"]["certificates"] == [pair("new").text]


async def test_metadata_is_bounded_at_its_address(
    administrator: Administrator, documents: tuple[str, dict[str, str]]
) -> None:
    address, served = documents
    served["/fits"] = metadata() + " " * (262_144 - len(metadata()))
    served["/large"] = served["/fits"] + " "

    statuses = [
        (await administrator.send("POST", "providers/create", provider(metadata_url=address + path))).status
        for path in ("/fits", "/large", "/missing")
    ]

    assert statuses == [200, 400, 400]


REFUSED: list[Any] = [
    pytest.param({"saml": None}, id="no settings"),
    pytest.param({"typ": "oidc"}, id="another type"),
    pytest.param({"issuer": ""}, id="no entity id"),
    pytest.param({"issuer": "x" * 1025}, id="a long entity id"),
    pytest.param({"issuer": "two words"}, id="two words"),
    pytest.param({"authorization_endpoint": ""}, id="no endpoint"),
    pytest.param({"authorization_endpoint": "http://idp.example.com/"}, id="an endpoint without TLS"),
    pytest.param({"authorization_endpoint": "javascript:alert(1)"}, id="a script"),
    pytest.param({"token_endpoint": "https://idp.example.com/token"}, id="a token endpoint"),
    pytest.param({"scope": "openid"}, id="scopes"),
    pytest.param({"client_secret_basic": True, "client_secret": "s"}, id="a secret"),
    pytest.param(provider(certificates=[]), id="no certificate"),
    pytest.param(provider(certificates=["AAAA"]), id="no certificate at all"),
    pytest.param(provider(certificates=[pair("weak", bits=1024).text]), id="a weak key"),
    pytest.param(provider(certificates=[pair(str(n), is_ec=True).text for n in range(9)]), id="nine keys"),
    pytest.param(provider(certificates=[pair().text], binding="artifact"), id="another binding"),
    pytest.param(provider(certificates=[pair().text], clock_skew_seconds=301), id="a large skew"),
    pytest.param(provider(certificates=[pair().text], name_id_format="urn:x"), id="another format"),
    pytest.param(
        provider(
            certificates=[pair().text], name_id_format="urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
        ),
        id="a transient name",
    ),
    pytest.param(
        provider(certificates=[pair().text], single_logout_endpoint="ftp://x/"), id="another logout"
    ),
    pytest.param(provider(certificates=[pair().text], metadata=metadata()), id="metadata and fields"),
    pytest.param(provider(certificates=[pair().text], surprise=True), id="another member"),
]


@pytest.mark.parametrize("change", REFUSED)
async def test_what_no_saml_provider_may_be_is_refused(
    administrator: Administrator, deployment: Deployment, change: dict[str, object]
) -> None:
    answer = await administrator.send("POST", "providers/create", FIELDS | change)

    assert (answer.status, (await answer.json())["error"]) == (400, "BadRequest")
    assert await deployment.store.of(PROVIDERS).page(DEFAULT) == []


@pytest.mark.parametrize(
    "saml",
    [
        {"metadata": "no XML"},
        {"metadata": f"<!DOCTYPE x>{metadata()}"},
        {"metadata": '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>'},
        {"metadata": f"<x>{metadata()}</x>"},
        {"metadata": metadata(key(pair().text, 'use="encryption"'))},
        {"metadata": metadata(binding="urn:oasis:names:tc:SAML:2.0:bindings:SOAP")},
        {"metadata": metadata(*(key(pair(str(n), is_ec=True).text) for n in range(9)))},
        {"metadata": metadata(), "metadata_url": "https://idp.example.com/metadata"},
        {"metadata_url": "http://idp.example.com/metadata"},
        {"metadata_url": "https://10.0.0.7/metadata"},
        {"metadata_url": "https://169.254.169.254/metadata"},
        {},
    ],
    ids=[
        *("no XML", "a document type", "an entity", "another root", "no signing key", "no binding of ours"),
        *("nine keys", "both", "no TLS", "a private address", "cloud metadata", "nothing"),
    ],
)
async def test_metadata_that_is_refused(
    administrator: Administrator, deployment: Deployment, saml: dict[str, Any]
) -> None:
    answer = await administrator.send("POST", "providers/create", provider(**saml))

    assert (answer.status, (await answer.json())["error"]) == (400, "BadRequest")
    assert await deployment.store.of(PROVIDERS).page(DEFAULT) == []


async def test_the_key_of_a_provider_stays_and_is_never_shown(
    administrator: Administrator, deployment: Deployment
) -> None:
    created_provider = await created(administrator, FIELDS)
    (before,) = await deployment.store.of(PROVIDERS).page(DEFAULT)
    path = f"providers/{created_provider['id']}"

    changed = await administrator.send("PUT", path, FIELDS | {"name": "Renamed"})

    (after,) = await deployment.store.of(PROVIDERS).page(DEFAULT)
    assert changed.status == 200
    assert before.saml_key is not None
    assert (before.saml_key, before.saml_certificate) == (after.saml_key, after.saml_certificate)
    assert "saml_key" not in await changed.text()
    assert "saml_key" not in repr(after)


async def test_our_metadata_is_public_and_of_its_tenant(administrator: Administrator, http: Http) -> None:
    kept = await created(administrator, FIELDS | {"saml": FIELDS["saml"] | {"name_id_format": PERSISTENT}})

    answer = await http.get(f"/auth/v1/providers/{kept['id']}/metadata")
    missing = await http.get("/auth/v1/providers/nobody/metadata")
    elsewhere = await http.get(f"/auth/v1/acme/providers/{kept['id']}/metadata")

    entity = etree.fromstring(await answer.read())
    service = entity.find("md:SPSSODescriptor/md:AssertionConsumerService", MD)
    own = f"http://id.example.com/auth/v1/providers/{kept['id']}"
    assert (answer.status, answer.content_type) == (200, "application/samlmetadata+xml")
    assert service is not None
    assert (entity.get("entityID"), service.get("Location")) == (f"{own}/metadata", f"{own}/callback")
    assert entity.findtext(".//md:NameIDFormat", "", MD) == PERSISTENT
    assert missing.status == 404
    assert elsewhere.status in {400, 404}


async def test_an_openid_provider_has_no_saml_metadata(administrator: Administrator, http: Http) -> None:
    whole = {
        "name": "Other",
        "typ": "oidc",
        "enabled": True,
        "issuer": "https://up.example.com",
        "authorization_endpoint": "https://up.example.com/authorize",
        "token_endpoint": "https://up.example.com/token",
        "jwks_endpoint": "https://up.example.com/keys",
        "client_id": "gnomon",
        "scope": "openid",
    }
    kept = await created(administrator, whole)

    assert (await http.get(f"/auth/v1/providers/{kept['id']}/metadata")).status == 404
    assert "saml" not in kept
