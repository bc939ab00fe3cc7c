"""Property: a manipulated response of an authenticator is refused, unless it is still valid."""

import json
from base64 import urlsafe_b64encode
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from identity.authentication.passkeys.authenticators import Authenticators, code_answered, presented
from identity.authentication.passkeys.config import WebauthnConfig
from identity.authentication.passkeys.passkey import Passkey
from identity.authentication.passkeys.relying_party import RelyingParty
from identity.directory.user import User, UserId
from server.platform.call import TenantId
from server.platform.errors import Unauthenticated
from tests.identity.authentication.passkeys.authenticator import SoftwareAuthenticator

PARTY = RelyingParty("id.example.com", "https://id.example.com")
CODE = "c" * 48
ALICE = User(tenant_id=TenantId("acme"), id="alice", email="alice@example.com")
AUTHENTICATORS = Authenticators(WebauthnConfig())
AUTHENTICATOR = SoftwareAuthenticator(PARTY.origin)
CREATION = json.loads(AUTHENTICATORS.creation_options(PARTY, ALICE, code=CODE, kept=(), needs_user=False))
ATTESTATION = AUTHENTICATOR.create(CREATION)
ATTESTED = AUTHENTICATORS.attested(PARTY, json.dumps(ATTESTATION), CODE, needs_user=False)
PASSKEY = Passkey(
    tenant_id=ALICE.tenant_id,
    id=ATTESTED.credential_id,
    user_id=UserId("alice"),
    name="key",
    rp_id=PARTY.rp_id,
    public_key=ATTESTED.public_key,
    sign_count=0,
    registered_at=datetime(2026, 1, 1, tzinfo=UTC),
    owned_name="alice key",
)
REQUEST = json.loads(
    AUTHENTICATORS.request_options(PARTY, code=CODE, allowed=[PASSKEY.credential], needs_user=True)
)
ASSERTION = AUTHENTICATOR.get(REQUEST)

texts = st.one_of(
    st.text(max_size=40), st.binary(max_size=200).map(lambda octets: urlsafe_b64encode(octets).decode())
)


@st.composite
def spoilt(draw: st.DrawFn, answer: dict[str, Any]) -> str:
    """A response with one member replaced or removed."""
    copy = json.loads(json.dumps(answer))
    holder = draw(st.sampled_from([copy, copy["response"]]))
    name = draw(st.sampled_from([name for name in holder if name not in {"id", "transports", "userHandle"}]))
    value = draw(st.one_of(texts, st.none(), st.integers(), st.just({})))
    if holder[name] == value:
        del holder[name]
    else:
        holder[name] = value
    return json.dumps(copy)


@given(spoilt(ATTESTATION))
def test_a_spoilt_attestation_is_refused(answer: str) -> None:
    with pytest.raises(Unauthenticated):
        AUTHENTICATORS.attested(PARTY, answer, CODE, needs_user=False)


@given(spoilt(ASSERTION))
def test_a_spoilt_assertion_is_refused(answer: str) -> None:
    with pytest.raises(Unauthenticated):
        AUTHENTICATORS.asserted(PARTY, answer, CODE, passkey=PASSKEY, needs_user=True)


@given(st.text())
def test_nonsense_is_refused_before_anything_is_looked_up(answer: str) -> None:
    with pytest.raises(Unauthenticated):
        presented(answer)
    with pytest.raises(Unauthenticated):
        code_answered(answer)


@pytest.mark.parametrize(
    ("party", "code"),
    [
        pytest.param(RelyingParty("id.example.com", "https://evil.example"), CODE, id="another origin"),
        pytest.param(RelyingParty("evil.example", PARTY.origin), CODE, id="another relying party"),
        pytest.param(PARTY, "d" * 48, id="another challenge"),
    ],
)
def test_an_answer_for_somebody_else_is_refused(party: RelyingParty, code: str) -> None:
    with pytest.raises(Unauthenticated):
        AUTHENTICATORS.attested(party, json.dumps(ATTESTATION), code, needs_user=False)
    with pytest.raises(Unauthenticated):
        AUTHENTICATORS.asserted(party, json.dumps(ASSERTION), code, passkey=PASSKEY, needs_user=False)


def test_an_answer_that_holds_says_what_it_proves() -> None:
    asserted = AUTHENTICATORS.asserted(PARTY, json.dumps(ASSERTION), CODE, passkey=PASSKEY, needs_user=True)

    assert (asserted.sign_count, asserted.is_user_verified) == (1, True)
