"""Certificates of clients over HTTP: a proxy passes them on in a header, and anybody else can send this header, too."""

import base64
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import grpc
import pytest
from cryptography.hazmat.primitives.serialization import Encoding
from joserfc.jwk import ECKey

from gnomon.identity.v1 import directory_service_pb2, token_service_pb2
from gnomon.identity.v1.directory_service_pb2_grpc import DirectoryServiceStub
from gnomon.identity.v1.token_service_pb2_grpc import TokenServiceStub
from identity.crypto.signed_jwt import parse
from server.platform.call import CLIENT_CERTIFICATE
from server.platform.channels import LocalChannel, error_of
from server.platform.errors import OAuthError, Unauthenticated
from server.platform.mutual_tls import MutualTlsConfig, thumbprint_of
from server.platform.peer import LOCAL_EDGE, Peer
from tests.edge.oidc.tenants.world import World, world
from tests.identity.certificates import issue

AUTHORITY = issue("CN=Authority", is_authority=True)
ROBOT = issue("CN=robot,O=Example", AUTHORITY)
OTHER = issue("CN=other,O=Example", AUTHORITY)
HERE = ("127.0.0.0/8", "::1/128")
HEADER = "Client-Cert"

CLIENT: dict[str, Any] = {
    "id": "robot",
    "enabled": True,
    "confidential": True,
    "redirect_uris": [],
    "flows_enabled": ["client_credentials"],
    "scopes": ["identity:read"],
    "default_scopes": [],
    "token_endpoint_auth_method": "tls_client_auth",
    "tls_client_auth_subject_dn": "CN=robot,O=Example",
    "tls_client_certificate_bound_access_tokens": True,
}


def of(certificate: bytes) -> dict[str, str]:
    """Return the header as RFC 9440 writes it."""
    return {HEADER: f":{base64.b64encode(certificate).decode()}:"}


async def put(provider: World, **changes: object) -> Any:
    answer = await provider.administer("PUT", "clients/robot", json=CLIENT | changes)
    assert answer.status == 200, await answer.text()
    return await answer.json()


async def token(provider: World, headers: Mapping[str, str]) -> tuple[int, Any]:
    form = {"grant_type": "client_credentials", "client_id": "robot"}
    answer = await provider.http.post("/auth/v1/oidc/token", data=form, headers=headers)
    return answer.status, await answer.json()


async def introspected(provider: World, text: str) -> Any:
    answer = await provider.http.post(
        "/auth/v1/oidc/introspect", data={"client_id": "robot", "token": text}, headers=of(ROBOT.der)
    )
    assert answer.status == 200, await answer.text()
    return await answer.json()


async def prepared(provider: World) -> World:
    new = {"id": "robot", "confidential": True, "redirect_uris": []}
    assert (await provider.administer("POST", "clients", json=new)).status == 200
    await put(provider)
    return provider


def config(tmp_path: Path, *proxies: str) -> MutualTlsConfig:
    authorities = AUTHORITY.write(tmp_path / "authorities.pem")
    return MutualTlsConfig(header=HEADER, proxies=proxies, authorities=authorities)


@pytest.fixture
async def behind(tmp_path: Path) -> AsyncIterator[World]:
    """A provider for which this test is the proxy."""
    async with world(mutual_tls=config(tmp_path, *HERE)) as provider:
        yield await prepared(provider)


PEM = ROBOT.certificate.public_bytes(Encoding.PEM).decode()
FORMS = {
    "RFC 9440": of(ROBOT.der)[HEADER],
    "percent-encoded PEM": quote(PEM),
    "PEM with blanks": PEM.strip().replace("\n", " "),
    "base64 of DER": base64.b64encode(ROBOT.der).decode(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
async def test_a_certificate_from_the_proxy_proves_the_client_and_binds_its_tokens(
    behind: World, form: str
) -> None:
    status, issued = await token(behind, {HEADER: form})

    assert (status, issued["token_type"]) == (200, "Bearer")
    bound = {"x5t#S256": thumbprint_of(ROBOT.der)}
    assert parse(issued["access_token"]).claims["cnf"] == bound
    assert (await introspected(behind, issued["access_token"]))["cnf"] == bound


@pytest.mark.parametrize(
    "headers",
    [{}, of(OTHER.der), {HEADER: ""}, {HEADER: "nonsense!"}, {"X-Client-Certificate": PEM.replace("\n", "")}],
)
async def test_another_certificate_or_none_proves_nothing(behind: World, headers: dict[str, str]) -> None:
    assert (await token(behind, headers))[0] == 401


async def test_a_header_that_the_proxy_added_to_that_of_its_client_counts_for_nothing(behind: World) -> None:
    form = {"grant_type": "client_credentials", "client_id": "robot"}
    twice = [(HEADER, of(ROBOT.der)[HEADER]), (HEADER, of(OTHER.der)[HEADER])]

    answer = await behind.http.post("/auth/v1/oidc/token", data=form, headers=twice)

    assert answer.status == 401


async def test_the_header_of_anybody_else_counts_for_nothing(tmp_path: Path) -> None:
    async with world(mutual_tls=config(tmp_path, "192.0.2.0/24")) as provider:
        await prepared(provider)

        assert (await token(provider, of(ROBOT.der)))[0] == 401
        assert (await token(provider, of(ROBOT.der) | {"X-Forwarded-For": "192.0.2.1"}))[0] == 401


async def test_without_the_configuration_there_are_no_certificates() -> None:
    async with world(trusted_proxies=HERE) as provider:
        await prepared(provider)
        metadata = await provider.metadata()

        assert (await token(provider, of(ROBOT.der)))[0] == 401
        assert metadata["tls_client_certificate_bound_access_tokens"] is False
        assert "tls_client_auth" not in metadata["token_endpoint_auth_methods_supported"]  # type: ignore[operator]


async def test_the_metadata_names_the_methods(behind: World) -> None:
    metadata = await behind.metadata()

    assert metadata["tls_client_certificate_bound_access_tokens"] is True
    for endpoint in ("token", "introspection", "revocation"):
        methods = metadata[f"{endpoint}_endpoint_auth_methods_supported"]
        assert {"tls_client_auth", "self_signed_tls_client_auth"} <= set(methods)  # type: ignore[call-overload]


async def test_without_authorities_the_metadata_names_self_signed_certificates_alone() -> None:
    async with world(mutual_tls=MutualTlsConfig(header=HEADER, proxies=HERE)) as provider:
        methods = (await provider.metadata())["token_endpoint_auth_methods_supported"]

        assert "self_signed_tls_client_auth" in methods  # type: ignore[operator]
        assert "tls_client_auth" not in methods  # type: ignore[operator]


async def test_a_peer_that_is_no_edge_has_no_certificate(behind: World) -> None:
    """A gRPC client can send the metadata, too."""
    asked = token_service_pb2.IssueTokenRequest(
        grant_type="client_credentials",
        client_id="robot",
        client_authentication=token_service_pb2.CLIENT_AUTHENTICATION_NONE,
    )
    metadata = ((CLIENT_CERTIFICATE, base64.b64encode(ROBOT.der).decode()),)
    dispatcher = behind.deployment.dispatcher
    edge, other = LocalChannel(dispatcher, peer=LOCAL_EDGE), LocalChannel(dispatcher, peer=Peer("192.0.2.9"))

    assert (await TokenServiceStub(edge).IssueToken(asked, metadata=metadata)).access_token
    with pytest.raises(grpc.RpcError) as failure:
        await TokenServiceStub(other).IssueToken(asked, metadata=metadata)

    error = error_of(failure.value)
    assert isinstance(error, OAuthError)
    assert error.error == "invalid_client"


async def test_the_process_api_wants_the_certificate_of_a_bound_token_at_each_call(behind: World) -> None:
    _, issued = await token(behind, of(ROBOT.der))
    asked = directory_service_pb2.GetPrincipalRequest(subject="operator", issuer=behind.issuer())

    async def is_admitted(certificate: bytes, *, peer: Peer = LOCAL_EDGE) -> bool:
        metadata = [("authorization", f"Bearer {issued['access_token']}"), ("x-tenant-id", "default")]
        if certificate:
            metadata.append((CLIENT_CERTIFICATE, base64.b64encode(certificate).decode()))
        channel = LocalChannel(behind.deployment.dispatcher, peer=peer)
        try:
            await DirectoryServiceStub(channel).GetPrincipal(asked, metadata=metadata)
        except grpc.RpcError as failure:
            return not isinstance(error_of(failure), Unauthenticated)
        return True

    assert not await is_admitted(b"")
    assert await is_admitted(ROBOT.der)
    # An admission is remembered, and that of a stolen token must not be found by it.
    assert not await is_admitted(b"")
    assert not await is_admitted(OTHER.der)
    assert not await is_admitted(ROBOT.der, peer=Peer("192.0.2.9"))
    assert await is_admitted(ROBOT.der)


async def test_a_bound_token_administers_nothing(behind: World) -> None:
    _, bound = await token(behind, of(ROBOT.der))
    await put(behind, tls_client_certificate_bound_access_tokens=False)
    _, free = await token(behind, of(ROBOT.der))

    async def status(text: str) -> int:
        headers = {"Authorization": f"Bearer {text}", **of(ROBOT.der)}
        return (await behind.http.get("/auth/v1/clients", headers=headers)).status

    assert [await status(bound["access_token"]), await status(free["access_token"])] == [401, 200]


async def test_a_self_signed_certificate_proves_the_client_whose_key_it_has(behind: World) -> None:
    own = issue("CN=whatever")
    jwks = {"keys": [ECKey.import_key(own.key).as_dict(private=False)]}
    await put(
        behind,
        token_endpoint_auth_method="self_signed_tls_client_auth",
        tls_client_auth_subject_dn=None,
        jwks=jwks,
    )

    assert [(await token(behind, of(each.der)))[0] for each in (own, ROBOT)] == [200, 401]


@pytest.mark.parametrize(
    "changes",
    [
        {"tls_client_auth_subject_dn": None},
        {"tls_client_auth_san_dns": "robot.example.com"},
        {"tls_client_auth_subject_dn": "robot"},
        {"tls_client_auth_subject_dn": None, "tls_client_auth_san_ip": "192.0.2"},
        {"token_endpoint_auth_method": "client_secret_basic"},
        {"token_endpoint_auth_method": "self_signed_tls_client_auth", "tls_client_auth_subject_dn": None},
        {
            "confidential": False,
            "token_endpoint_auth_method": "none",
            "tls_client_auth_subject_dn": None,
            "flows_enabled": ["authorization_code"],
            "challenges": ["S256"],
        },
    ],
)
async def test_what_cannot_hold_is_not_registered(behind: World, changes: dict[str, object]) -> None:
    answer = await behind.administer("PUT", "clients/robot", json=CLIENT | changes)

    assert answer.status == 400, await answer.text()


async def test_an_administrator_reads_what_was_registered(behind: World) -> None:
    kept = await (await behind.administer("GET", "clients/robot")).json()

    assert {name: kept[name] for name in CLIENT} == CLIENT


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"header": HEADER}, "both header and proxies"),
        ({"proxies": HERE}, "both header and proxies"),
        ({"header": "Client Cert", "proxies": HERE}, "name of a header"),
        ({"header": HEADER, "proxies": ("everybody",)}, "networks"),
        ({"authorities": "/etc/ssl/authorities.pem"}, "header, too"),
    ],
)
def test_a_configuration_that_would_surprise_is_refused(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        MutualTlsConfig(**fields)


@pytest.mark.parametrize("file", ["", "nonsense", PEM])
async def test_a_file_without_authorities_is_refused_at_start(tmp_path: Path, file: str) -> None:
    path = tmp_path / "authorities.pem"
    path.write_text(file)

    with pytest.raises(ValueError, match="authorities"):
        async with world(mutual_tls=MutualTlsConfig(header=HEADER, proxies=HERE, authorities=str(path))):
            pass
