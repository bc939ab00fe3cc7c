import json
from typing import Any

import pytest

from identity.authentication.federation.lookup import ProviderLookup
from identity.delivery.http.destinations import Destinations
from identity.foundation.vocabulary import AuthenticationMethod
from server.platform.errors import InvalidArgument
from tests.identity.documents import KnownDocuments

ISSUER = "https://up.example.com/realm"
URI = f"{ISSUER}/.well-known/openid-configuration"
METADATA = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/authorize",
    "token_endpoint": f"{ISSUER}/token",
    "jwks_uri": f"{ISSUER}/keys",
    "scopes_supported": ["openid", "email", "other"],
    "token_endpoint_auth_methods_supported": ["private_key_jwt", "client_secret_post"],
    "unknown": {"member": 1},
}


def publishing(document: object, uri: str = URI) -> ProviderLookup:
    return ProviderLookup(KnownDocuments({uri: json.dumps(document)}), Destinations())


@pytest.mark.parametrize(
    "asked", [{"issuer": ISSUER, "metadata_url": ""}, {"issuer": "", "metadata_url": URI}]
)
async def test_a_provider_says_what_it_is(asked: dict[str, str]) -> None:
    found = await publishing(METADATA).look_up(**asked)

    assert found.issuer == ISSUER
    assert found.scopes == ("openid", "email")
    assert found.methods == (AuthenticationMethod.CLIENT_SECRET_POST,)


async def test_the_slash_at_an_issuers_end_is_part_of_it() -> None:
    lookup = publishing(METADATA | {"issuer": f"{ISSUER}/"})

    assert (await lookup.look_up(issuer=f"{ISSUER}/", metadata_url="")).issuer == f"{ISSUER}/"
    with pytest.raises(InvalidArgument, match="another issuer"):
        await lookup.look_up(issuer=ISSUER, metadata_url="")


FALSE: list[Any] = [
    pytest.param({"issuer": "https://evil.example.com"}, id="another issuer"),
    pytest.param({"issuer": f"{ISSUER}/deeper"}, id="an issuer below"),
    pytest.param({"issuer": 5}, id="no issuer"),
    pytest.param({"token_endpoint": "http://up.example.com/token"}, id="no TLS"),
    pytest.param({"jwks_uri": "file:///etc/passwd"}, id="no address of the web"),
    pytest.param({"authorization_endpoint": "javascript:alert(1)"}, id="a script"),
]


@pytest.mark.parametrize("change", FALSE)
async def test_metadata_that_no_provider_may_have_is_refused(change: dict[str, object]) -> None:
    for asked in ({"issuer": ISSUER, "metadata_url": ""}, {"issuer": "", "metadata_url": URI}):
        with pytest.raises(InvalidArgument):
            await publishing(METADATA | change).look_up(**asked)


@pytest.mark.parametrize("text", ["", "s3cret", "[]", "{}", "[" * 9999])
async def test_what_is_no_metadata_is_not_repeated(text: str) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        await ProviderLookup(KnownDocuments({URI: text}), Destinations()).look_up(
            issuer=ISSUER, metadata_url=""
        )

    assert "s3cret" not in refusal.value.detail


@pytest.mark.parametrize("member", ["issuer", "metadata_url"])
async def test_metadata_in_a_private_network_is_refused_by_name(member: str) -> None:
    asked = {"issuer": "", "metadata_url": ""} | {member: "https://10.0.0.7"}

    with pytest.raises(InvalidArgument, match=f"^{member}: expected a public address"):
        await publishing(METADATA).look_up(**asked)


@pytest.mark.parametrize("member", ["issuer", "metadata_url"])
async def test_an_address_with_a_password_is_not_looked_up(member: str) -> None:
    asked = {"issuer": "", "metadata_url": ""} | {member: "https://user:password@id.example.com"}

    with pytest.raises(InvalidArgument, match=f"^{member}: expected an address without user name"):
        await publishing(METADATA).look_up(**asked)


@pytest.mark.parametrize("asked", [("", ""), (ISSUER, URI)])
async def test_one_thing_is_asked_about(asked: tuple[str, str]) -> None:
    issuer, metadata_url = asked

    with pytest.raises(InvalidArgument, match="one of them"):
        await publishing(METADATA).look_up(issuer=issuer, metadata_url=metadata_url)
