"""Signatures of every algorithm verify with a third-party library, also during key rotation."""

import json
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests
from joserfc import jwt
from joserfc.jwk import KeySet

from tests.people.person import SECONDS
from tests.people.provider import SECRET, Provider
from tests.people.provider import provider as running
from tests.waits import until_others

ALGORITHMS = ("RS256", "ES256", "EdDSA", "RS384", "RS512")
OCTETS = {"RS256": 256, "ES256": 64, "EdDSA": 64, "RS384": 384, "RS512": 512}
CALLERS = 8
ROTATIONS = 2
CLIENT = """
[[bootstrap.clients]]
id = "of-{algorithm}"
secret = "{secret}"
permissions = ["job:work"]
access_token_signed_response_alg = "{algorithm}"
"""


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    clients = (CLIENT.format(algorithm=algorithm, secret=SECRET) for algorithm in ALGORITHMS)
    with running(extra="".join(clients)) as started:
        until_others(lambda: {key["alg"] for key in keys_of(started)} == set(ALGORITHMS))
        yield started


def keys_of(provider: Provider) -> list[dict[str, Any]]:
    return list(json.loads(provider.jwks)["keys"])


def token_of(provider: Provider, client_id: str, secret: str = SECRET) -> str:
    answer = requests.post(
        f"{provider.issuer}oidc/token",
        data={"grant_type": "client_credentials"},
        auth=(client_id, secret),
        timeout=SECONDS,
    )
    answer.raise_for_status()
    return str(answer.json()["access_token"])


def test_every_algorithm_verifies_with_another_library(node: Path, provider: Provider) -> None:
    tokens = [token_of(provider, f"of-{algorithm}") for algorithm in ALGORITHMS]

    command = ["node", "verify.mjs", provider.jwks, *tokens]
    verified = json.loads(subprocess.run(command, cwd=node, check=True, capture_output=True).stdout)

    assert [each["alg"] for each in verified] == list(ALGORITHMS)
    assert {each["alg"]: each["octets"] for each in verified} == OCTETS
    assert {each["claims"]["iss"] for each in verified} == {provider.issuer}


def test_no_token_fails_to_verify_while_keys_are_replaced(provider: Provider) -> None:
    done = threading.Event()
    first = keys_of(provider)

    with ThreadPoolExecutor(CALLERS) as callers:
        verifying = [callers.submit(_verify_until, done, provider) for _ in range(CALLERS)]
        try:
            for _ in range(ROTATIONS):
                _rotate(provider)
        finally:
            done.set()
        counts = [each.result() for each in verifying]

    kids = {key["kid"] for key in keys_of(provider)}
    assert min(counts) > 0
    assert {key["kid"] for key in first} < kids
    assert keys_of(provider)[0]["kid"] != first[0]["kid"]


def _verify_until(done: threading.Event, provider: Provider) -> int:
    """Return the number of tokens that verified with the keys published right after."""
    count = 0
    while not done.is_set():
        token = token_of(provider, "of-RS256")
        jwt.decode(token, KeySet.import_key_set(json.loads(provider.jwks)), algorithms=["RS256"])
        count += 1
    return count


def _rotate(provider: Provider) -> None:
    bearer = {"Authorization": f"Bearer {token_of(provider, 'demo', 'demo-secret')}"}
    answer = requests.post(f"{provider.issuer}oidc/rotate_jwk", headers=bearer, timeout=60)
    assert answer.status_code == requests.codes.ok, answer.text
