"""JSON of clients: members, defaults and empty values follow from the contract."""

import json
from typing import Any

import msgspec
import orjson
import pytest

from edge.oidc.access.message_json import MessageJson, members
from edge.oidc.access.refusal import Refused
from edge.oidc.clients.registration_body import RegistrationBody, metadata_members, metadata_of
from gnomon.identity.v1 import client_service_pb2, dynamic_client_service_pb2


class Body(msgspec.Struct, forbid_unknown_fields=True):
    pass


JSON = MessageJson(client_service_pb2.Client, Body, name="Client")
NEW = {
    "id": "app",
    "enabled": True,
    "confidential": False,
    "redirect_uris": [],
    "flows_enabled": ["authorization_code"],
    "scopes": ["openid"],
    "default_scopes": [],
}


def sent(**changed: Any) -> client_service_pb2.Client:
    return JSON.read(msgspec.json.decode(json.dumps(NEW | changed), type=JSON.body))


def registered(**metadata: Any) -> dynamic_client_service_pb2.ClientMetadata:
    return metadata_of(msgspec.json.decode(json.dumps(metadata), type=RegistrationBody))


def shown(client: client_service_pb2.Client) -> dict[str, Any]:
    answer: dict[str, Any] = orjson.loads(orjson.dumps(members(client)))
    return answer


def test_an_absent_member_has_the_default_of_the_contract() -> None:
    client = sent()

    assert (client.auth_code_lifetime, client.access_token_lifetime) == (60, 1800)
    assert (client.consent, client.id_token_signed_response_alg) == ("never", "RS256")
    assert (client.name, list(client.contacts), client.jwks) == ("", [], "")


@pytest.mark.parametrize("name", sorted(NEW))
def test_a_required_member_may_be_empty_and_not_absent(name: str) -> None:
    body = {member: value for member, value in NEW.items() if member != name}

    with pytest.raises(msgspec.ValidationError, match=name):
        msgspec.json.decode(json.dumps(body), type=JSON.body)


@pytest.mark.parametrize(
    "change",
    [
        {"no_such_member": 1},
        {"enabled": None},
        {"force_mfa": None},
        {"force_mfa": "yes"},
        {"contacts": "ops@example.com"},
        {"claims": []},
        {"auth_code_lifetime": 301},
        {"access_token_lifetime": 9},
    ],
    ids=str,
)
def test_a_member_of_another_type_or_out_of_bounds_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        sent(**change)


def test_an_algorithm_has_two_names() -> None:
    client = sent(access_token_alg="ES256", id_token_alg="EdDSA", id_token_signed_response_alg="EdDSA")

    assert client.access_token_signed_response_alg == "ES256"
    answer = shown(client)
    assert (answer["access_token_alg"], answer["access_token_signed_response_alg"]) == ("ES256", "ES256")


def test_two_names_with_different_values_are_refused() -> None:
    with pytest.raises(Refused, match="id_token_alg: expected one value, found two"):
        sent(id_token_alg="EdDSA", id_token_signed_response_alg="ES256")


def test_an_answer_has_every_member_and_null_for_an_empty_one() -> None:
    client = client_service_pb2.Client(id="app", claims='{"branch": "Ulm"}', force_mfa=True)

    answer = shown(client)

    assert answer.keys() == {field.name for field in client.DESCRIPTOR.fields} | {
        "access_token_alg",
        "id_token_alg",
    }
    assert (answer["redirect_uris"], answer["contacts"], answer["tos_uri"]) == ([], None, None)
    assert (answer["claims"], answer["jwks"]) == ({"branch": "Ulm"}, None)
    assert (answer["force_mfa"], answer["fed_cm"], answer["security_profile"]) == (True, False, "none")


def test_an_object_without_claims_is_none() -> None:
    assert sent(claims={}).claims == ""
    assert sent(jwks={}).jwks == "{}"


def test_null_is_an_absent_member_of_metadata_and_unknown_members_are_ignored() -> None:
    metadata = registered(
        **{"https://example.com/extension": 1},
        redirect_uris=None,
        dpop_bound_access_tokens=None,
        default_max_age=None,
        tos_uri="",
    )

    assert metadata == dynamic_client_service_pb2.ClientMetadata()


def test_a_registration_shows_what_is_not_empty() -> None:
    metadata = registered(jwks={"keys": []}, default_max_age=0, contacts=["ops@example.com"])

    answer = orjson.loads(orjson.dumps(metadata_members(metadata)))

    assert {name: value for name, value in answer.items() if value is not False} == {
        "jwks": {"keys": []},
        "default_max_age": 0,
        "contacts": ["ops@example.com"],
    }
