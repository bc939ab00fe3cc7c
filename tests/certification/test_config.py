"""oidcc-config-certification-test-plan."""

import re
from urllib.parse import urlsplit

import requests

from tests.people.person import SECONDS
from tests.people.provider import Provider

_SCOPE = re.compile(r"[\x21\x23-\x5B\x5D-\x7E]+")
_PRIVATE = {"d", "p", "q", "dp", "dq", "qi", "k"}


def test_oidcc_discovery_endpoint_verification(provider: Provider) -> None:
    answer = requests.get(f"{provider.issuer}.well-known/openid-configuration", timeout=SECONDS)
    metadata = answer.json()

    assert answer.status_code == requests.codes.ok
    assert answer.headers["Content-Type"].startswith("application/json")
    assert metadata["issuer"] == provider.issuer
    endpoints = {name: value for name, value in metadata.items() if name.endswith("_endpoint")}
    assert {"authorization_endpoint", "token_endpoint", "userinfo_endpoint"} <= endpoints.keys()
    # The provider under test is on loopback, where it has no certificate: its own address is its origin.
    origin = urlsplit(provider.issuer)
    for address in (*endpoints.values(), metadata["jwks_uri"]):
        assert urlsplit(address)[:2] == origin[:2]
    assert set(metadata["subject_types_supported"]) <= {"public", "pairwise"}
    assert "code" in metadata["response_types_supported"]
    assert {"query", "form_post"} <= set(metadata["response_modes_supported"])
    assert "RS256" in metadata["id_token_signing_alg_values_supported"]
    assert "openid" in metadata["scopes_supported"]
    assert all(_SCOPE.fullmatch(scope) for scope in metadata["scopes_supported"])
    assert metadata["claims_supported"]
    assert metadata["request_parameter_supported"] is True
    assert metadata["request_uri_parameter_supported"] is True
    assert metadata["require_request_uri_registration"] is True
    assert "RS256" in metadata["request_object_signing_alg_values_supported"]
    keys = requests.get(metadata["jwks_uri"], timeout=SECONDS).json()["keys"]
    assert len({key["kid"] for key in keys}) == len(keys)
    assert not any(_PRIVATE & key.keys() for key in keys)
