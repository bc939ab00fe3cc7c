"""Fields of a client between the contract and its record."""

from dataclasses import replace
from datetime import timedelta

import pytest
from google.protobuf.message import Message

from gnomon.identity.v1 import client_service_pb2, dynamic_client_service_pb2
from identity.clients.rpc.client_messages import message_of, record_fields
from identity.crypto.jose.algorithms import SigningAlgorithm
from identity.directory.client import CertificateName, CertificateNameType, Client
from identity.foundation.vocabulary import ConsentMode, GrantType
from server.platform.call import TenantId
from server.platform.errors import InvalidArgument

EMPTY = Client(tenant_id=TenantId("acme"), id="app")
FULL = replace(
    EMPTY,
    name="The app",
    is_enabled=False,
    requires_pkce=False,
    requires_dpop=True,
    consent=ConsentMode.ALWAYS,
    contacts=("ops@example.com",),
    grant_types=frozenset({GrantType.REFRESH_TOKEN, GrantType.AUTHORIZATION_CODE}),
    access_token_lifetime=timedelta(minutes=5),
    userinfo_signed_response_alg=SigningAlgorithm.ES256,
    certificate_name=CertificateName(CertificateNameType.SAN_DNS, "app.example.com"),
    claims='{"branch": "Ulm"}',
)


@pytest.mark.parametrize("client", [EMPTY, FULL], ids=["defaults", "full"])
def test_a_client_that_is_sent_back_as_it_was_shown_is_the_same(client: Client) -> None:
    shown = message_of(client_service_pb2.Client, client)

    assert replace(client, **record_fields(shown)) == client


def test_an_empty_text_is_the_default_of_the_record() -> None:
    found = record_fields(client_service_pb2.Client())

    assert found["id_token_signed_response_alg"] is SigningAlgorithm.RS256
    assert found["userinfo_signed_response_alg"] is None


def test_a_repeated_text_counts_once() -> None:
    found = record_fields(client_service_pb2.Client(contacts=["b", "a", "b"]))

    assert found["contacts"] == ("b", "a")


@pytest.mark.parametrize(
    ("message", "refusal"),
    [
        (client_service_pb2.Client(consent="sometimes"), "consent: expected one of never, once, always"),
        (client_service_pb2.Client(flows_enabled=["magic"]), "flows_enabled: expected some of"),
        (
            client_service_pb2.Client(userinfo_signed_response_alg="none"),
            "userinfo_signed_response_alg: expected one of",
        ),
    ],
)
def test_a_word_that_does_not_exist_is_refused(message: client_service_pb2.Client, refusal: str) -> None:
    with pytest.raises(InvalidArgument, match=refusal):
        record_fields(message)


def test_a_client_has_one_name_in_certificates() -> None:
    message = client_service_pb2.Client(
        tls_client_auth_san_dns="a.example", tls_client_auth_san_ip="192.0.2.1"
    )

    with pytest.raises(InvalidArgument, match="tls_client_auth_san_ip: expected one name at most"):
        record_fields(message)


@pytest.mark.parametrize(
    "message", [client_service_pb2.Client(), dynamic_client_service_pb2.ClientMetadata()], ids=type
)
def test_the_record_has_what_the_contract_says_of_a_client(message: Message) -> None:
    # Members whose meaning is in the code of registrations.
    own = {"response_types", "scope", "application_type"}

    found = record_fields(message, without=own)

    assert found.keys() <= set(Client.__dataclass_fields__)
