"""/saml_keys over HTTP."""

from cryptography.hazmat.primitives.hashes import SHA256

from identity.authentication.saml.certificates import certificate_of
from tests.edge.oidc.administration.administrator import Administrator

RIGHTS = ["read", "create", "update", "delete"]


async def test_a_key_is_replaced_without_an_interruption(administrator: Administrator) -> None:
    key = await administrator.key("keys", Secrets=RIGHTS)

    (first,) = await (await key.send("GET", "saml_keys")).json()
    certificate = certificate_of(first["certificate"])
    assert first == {
        "active": True,
        "certificate": first["certificate"],
        "fingerprint": certificate.fingerprint(SHA256()).hex(),
        "not_before": int(certificate.not_valid_before_utc.timestamp()),
        "not_after": int(certificate.not_valid_after_utc.timestamp()),
    }
    made = await key.send("POST", "saml_keys")
    assert made.status == 201
    kept, coming = await made.json()
    assert (kept, coming["active"]) == (first, False)
    metadata = await (await key.send("GET", "saml/metadata")).text()
    assert metadata.index(first["certificate"]) < metadata.index(coming["certificate"])

    activated = await (await key.send("PUT", "saml_keys/active")).json()
    assert activated == [{**coming, "active": True}]
    metadata = await (await key.send("GET", "saml/metadata")).text()
    assert first["certificate"] not in metadata


async def test_refusals(administrator: Administrator) -> None:
    key = await administrator.key("keys", Secrets=RIGHTS)
    paths = (("POST", "saml_keys"), ("PUT", "saml_keys/active"), ("DELETE", "saml_keys/next"))

    for method, path in paths[1:]:
        assert (await key.send(method, path)).status == 409
    assert (await key.send("POST", "saml_keys")).status == 201
    assert (await key.send("POST", "saml_keys")).status == 409
    assert (await key.send("DELETE", "saml_keys/next")).status == 204
    assert [each["active"] for each in await (await key.send("GET", "saml_keys")).json()] == [True]

    other = await administrator.key("other", Clients=RIGHTS)
    for method, path in (("GET", "saml_keys"), *paths):
        assert (await other.send(method, path)).status == 403


async def test_each_tenant_has_its_own_key(administrator: Administrator) -> None:
    own = await (await administrator.send("GET", "saml_keys")).json()
    theirs = await administrator.http.get("/auth/v1/acme/saml/metadata")

    assert own[0]["certificate"] not in await theirs.text()
