"""/saml_applications over HTTP."""

from typing import Any

import pytest

from identity.directory.tenants.saml_application import SAML_APPLICATIONS
from server.platform.call import TenantId
from tests.edge.oidc.administration.administrator import Administrator
from tests.identity.authentication.saml.idp import pair
from tests.identity.deployment import Deployment

DEFAULT = TenantId("default")
ENTITY_ID = "https://wiki.example.com/saml"
CERTIFICATE = pair("wiki").text
EMAIL_FORMAT = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"
WHOLE: dict[str, Any] = {
    "entity_id": ENTITY_ID,
    "consumer_services": [
        {"url": "https://wiki.example.com/acs", "index": 3},
        {"url": "http://127.0.0.1:8080/acs", "index": 0},
    ],
    "single_logout_url": "https://wiki.example.com/slo",
    "name_id_format": EMAIL_FORMAT,
    "certificates": [CERTIFICATE],
    "require_signed_requests": True,
    "encryption_certificate": CERTIFICATE,
    "attributes": [{"name": "mail", "claim": "email"}],
}
LEAST = {"entity_id": ENTITY_ID, "consumer_services": [{"url": "https://wiki.example.com/acs"}]}
METADATA = f"""<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata"
 xmlns:ds="http://www.w3.org/2000/09/xmldsig#" entityID="{ENTITY_ID}">
<md:SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol" AuthnRequestsSigned="true">
<md:KeyDescriptor use="signing"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>{CERTIFICATE}</ds:X509Certificate>
</ds:X509Data></ds:KeyInfo></md:KeyDescriptor>
<md:KeyDescriptor use="encryption"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>{CERTIFICATE}</ds:X509Certificate>
</ds:X509Data></ds:KeyInfo></md:KeyDescriptor>
<md:SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
 Location="https://wiki.example.com/slo"/>
<md:NameIDFormat>{EMAIL_FORMAT}</md:NameIDFormat>
<md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Artifact" index="1"
 Location="https://wiki.example.com/artifact"/>
<md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" index="0"
 Location="http://127.0.0.1:8080/acs"/>
<md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" index="3" isDefault="true"
 Location="https://wiki.example.com/acs"/>
</md:SPSSODescriptor></md:EntityDescriptor>"""


async def add_client(administrator: Administrator, client_id: str = "wiki") -> None:
    body = {"id": client_id, "name": "Wiki", "confidential": False, "redirect_uris": []}
    created = await administrator.send("POST", "clients", body)
    assert created.status == 200, await created.text()


async def put(administrator: Administrator, body: dict[str, Any], client_id: str = "wiki") -> dict[str, Any]:
    answer = await administrator.send("PUT", f"saml_applications/{client_id}", body)
    assert answer.status == 200, await answer.text()
    return dict(await answer.json())


async def test_a_client_becomes_an_application_is_listed_changed_and_no_application_again(
    administrator: Administrator,
) -> None:
    await add_client(administrator)
    application = await put(administrator, WHOLE)
    assert application == WHOLE | {"id": "wiki"}
    assert await (await administrator.send("GET", "saml_applications")).json() == [application]
    assert await (await administrator.send("GET", "saml_applications/wiki")).json() == application

    changed = await put(administrator, LEAST)

    assert changed["certificates"] == changed["attributes"] == []
    assert changed["consumer_services"] == [{"url": "https://wiki.example.com/acs", "index": 0}]
    assert (await administrator.send("DELETE", "saml_applications/wiki")).status == 200
    assert (await administrator.send("GET", "saml_applications/wiki")).status == 404
    assert (await administrator.send("DELETE", "saml_applications/wiki")).status == 404
    assert (await administrator.send("GET", "clients/wiki")).status == 200


async def test_metadata_describes_an_application(administrator: Administrator) -> None:
    await add_client(administrator)

    await put(administrator, LEAST | {"entity_id": "https://wiki.example.com/before"})
    application = await put(administrator, LEAST | {"metadata": METADATA, "attributes": WHOLE["attributes"]})

    assert application == WHOLE | {"id": "wiki"}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({}, id="nothing"),
        pytest.param(LEAST | {"entity_id": ""}, id="no entity id"),
        pytest.param(LEAST | {"entity_id": "a b"}, id="space"),
        pytest.param(LEAST | {"consumer_services": []}, id="no address"),
        pytest.param(LEAST | {"consumer_services": [{"url": "http://wiki.example.com/acs"}]}, id="http"),
        pytest.param(LEAST | {"consumer_services": [{"url": "javascript:alert(1)"}]}, id="script"),
        pytest.param(
            LEAST
            | {"consumer_services": [{"url": "https://a.example.com"}, {"url": "https://b.example.com"}]},
            id="same index",
        ),
        pytest.param(
            LEAST | {"consumer_services": [{"url": "https://a.example.com", "index": 65536}]}, id="index"
        ),
        pytest.param(LEAST | {"single_logout_url": "http://wiki.example.com"}, id="logout over http"),
        pytest.param(LEAST | {"name_id_format": "urn:other"}, id="name format"),
        pytest.param(LEAST | {"certificates": ["AAAA"]}, id="certificate"),
        pytest.param(LEAST | {"certificates": [pair("weak", bits=1024).text]}, id="weak key"),
        pytest.param(LEAST | {"require_signed_requests": True}, id="signed without certificate"),
        pytest.param(LEAST | {"encryption_certificate": pair("ec", is_ec=True).text}, id="encryption to EC"),
        pytest.param(
            LEAST | {"attributes": [{"name": "a", "claim": "b"}, {"name": "a", "claim": "c"}]}, id="twice"
        ),
        pytest.param(LEAST | {"attributes": [{"name": "a"}]}, id="no claim"),
        pytest.param({"metadata": "<a/>"}, id="no metadata"),
        pytest.param({"metadata": f"<!DOCTYPE a>{METADATA}"}, id="document type"),
        pytest.param({"metadata": METADATA.replace("HTTP-POST", "HTTP-Artifact")}, id="no POST binding"),
        pytest.param({"metadata": METADATA.replace('index="3"', 'index="three"')}, id="index of metadata"),
    ],
)
async def test_settings_that_no_application_has(administrator: Administrator, body: dict[str, Any]) -> None:
    await add_client(administrator)

    assert (await administrator.send("PUT", "saml_applications/wiki", body)).status == 400
    assert await (await administrator.send("GET", "saml_applications")).json() == []


async def test_only_a_client_becomes_an_application(administrator: Administrator) -> None:
    assert (await administrator.send("PUT", "saml_applications/wiki", LEAST)).status == 404
    assert (await administrator.send("PUT", "saml_applications/rauthy", LEAST)).status == 404


async def test_an_entity_id_belongs_to_one_client(administrator: Administrator) -> None:
    await add_client(administrator)
    await add_client(administrator, "other")
    await put(administrator, LEAST)

    assert (await administrator.send("PUT", "saml_applications/other", LEAST)).status == 409


async def test_the_settings_end_with_the_client(administrator: Administrator, deployment: Deployment) -> None:
    await add_client(administrator)
    await put(administrator, LEAST)

    assert (await administrator.send("DELETE", "clients/wiki")).status == 200

    assert await deployment.store.of(SAML_APPLICATIONS).page(DEFAULT) == []


async def test_a_key_needs_the_right_to_clients(administrator: Administrator) -> None:
    await add_client(administrator)
    reader = await administrator.key("reader", Clients=["read"])
    keeper = await administrator.key("keeper", Clients=["read", "update", "delete"])

    assert (await reader.send("PUT", "saml_applications/wiki", LEAST)).status == 403
    await put(keeper, LEAST)
    assert (await reader.send("GET", "saml_applications/wiki")).status == 200
    assert (await reader.send("DELETE", "saml_applications/wiki")).status == 403
    assert (await keeper.send("DELETE", "saml_applications/wiki")).status == 200


async def test_a_key_changes_no_application_of_an_administrator(administrator: Administrator) -> None:
    keeper = await administrator.key("keeper", Clients=["read", "update"])

    assert (await keeper.send("PUT", "saml_applications/operator", LEAST)).status == 403


async def test_changes_are_events(administrator: Administrator) -> None:
    await add_client(administrator)
    await put(administrator, LEAST)
    await put(administrator, WHOLE)
    await administrator.send("DELETE", "saml_applications/wiki")

    listed = await (await administrator.send("POST", "events", {"from": 0})).json()
    texts = [(event["typ"], event["text"]) for event in listed if "SAML" in (event["text"] or "")]
    assert sorted(texts) == [
        (typ, "SAML settings of client wiki") for typ in ("Changed", "Created", "Deleted")
    ]
