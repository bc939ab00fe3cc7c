"""How long what was found out stays true; the provider is a fake that counts how often it is asked."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import cast

import msgspec
import pytest

from gnomon.identity.v1 import directory_service_pb2, key_set_service_pb2
from identity.crypto.jose.algorithms import ALGORITHMS
from identity.crypto.jose.key_set import KeySet
from identity.crypto.jose.signing_key import SigningKey
from identity.foundation.randomness import SystemRandomness
from server.access.authenticate import Authenticator
from server.access.config import AccessConfig
from server.access.lru import Lru
from server.platform.call import Call, Principal, TenantId
from server.platform.channels import LocalChannel
from server.platform.clock import VirtualClock
from server.platform.dispatch import Dispatcher
from server.platform.errors import (
    NotFound,
    PermissionDenied,
    ServiceError,
    Unauthenticated,
    Unavailable,
)
from server.platform.policy import policies_of

ISSUER = "https://id.example.com/auth/v1/"
NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
DIRECTORY = directory_service_pb2.DESCRIPTOR.services_by_name["DirectoryService"]
KEY_SETS = key_set_service_pb2.DESCRIPTOR.services_by_name["KeySetService"]
POLICY = policies_of(DIRECTORY)["/gnomon.identity.v1.DirectoryService/GetPrincipal"]


def new_key_set() -> KeySet:
    kind = ALGORITHMS[0]
    return KeySet((SigningKey.of(SystemRandomness().alphanumeric(24), kind.algorithm, kind.generate()),))


@dataclass
class FakeProvider:
    key_set: KeySet = field(default_factory=new_key_set)
    permissions: list[str] = field(default_factory=lambda: ["job:work"])
    kind: directory_service_pb2.PrincipalKind.ValueType = directory_service_pb2.PRINCIPAL_KIND_CLIENT
    asked: Counter[str] = field(default_factory=Counter)
    other_jwks: list[key_set_service_pb2.Jwk] = field(default_factory=list)
    is_away: bool = False
    meanwhile: Callable[[], None] = field(default=lambda: None)
    claims: bytes = b""
    depends_on: list[str] = field(default_factory=lambda: ["worker", "set-1"])
    refusal: ServiceError | None = None
    algorithms: list[str] = field(default_factory=list)

    async def get_key_set(
        self, request: key_set_service_pb2.GetKeySetRequest, _call: Call
    ) -> key_set_service_pb2.GetKeySetResponse:
        self.asked["keys"] += 1
        self.algorithms = list(request.algorithms)
        await asyncio.sleep(0)
        self._refuse_when_away()
        jwks = [key_set_service_pb2.Jwk(**asdict(key.public_jwk)) for key in self.key_set.keys]
        return key_set_service_pb2.GetKeySetResponse(keys=[*self.other_jwks, *jwks])

    async def get_principal(
        self, request: directory_service_pb2.GetPrincipalRequest, _call: Call
    ) -> directory_service_pb2.GetPrincipalResponse:
        self.asked["principals"] += 1
        self._refuse_when_away()
        self.claims = request.claims
        if self.refusal is not None:
            raise self.refusal
        if not self.permissions:
            raise NotFound("there is no such principal")
        principal = directory_service_pb2.Principal(
            subject=request.subject,
            kind=self.kind,
            tenant_ids=["default"],
            permissions=self.permissions,
            depends_on=self.depends_on,
        )
        self.meanwhile()
        return directory_service_pb2.GetPrincipalResponse(principal=principal)

    def _refuse_when_away(self) -> None:
        if self.is_away:
            raise Unavailable("the provider is away")

    def token(self, **changes: object) -> str:
        noon = int(NOON.timestamp())
        claims = {
            "iss": ISSUER,
            "sub": "worker",
            "aud": "worker",
            "exp": noon + 3600,
            "nbf": noon,
            "typ": "Bearer",
            "scope": "job:work history:read",
        }
        return cast("SigningKey", self.key_set.keys[0]).sign(msgspec.json.encode(claims | changes))


@dataclass
class Access:
    provider: FakeProvider
    clock: VirtualClock
    authenticator: Authenticator

    async def admit(self, token: str) -> Principal:
        call = Call(POLICY, directory_service_pb2.GetPrincipalRequest(), {"authorization": f"Bearer {token}"})
        waiting = self.authenticator(call)
        if waiting is not None:
            await waiting
        return call.principal

    async def is_refused(self, token: str) -> bool:
        try:
            await self.admit(token)
        except Unauthenticated:
            return True
        return False


@pytest.fixture
def access() -> Access:
    provider, clock = FakeProvider(), VirtualClock(pinned=NOON)
    channel = LocalChannel(Dispatcher({DIRECTORY: provider, KEY_SETS: provider}, ()))
    return Access(provider, clock, Authenticator(channel, AccessConfig(issuer=ISSUER), clock))


async def test_an_admitted_token_is_not_looked_at_again(access: Access) -> None:
    token = access.provider.token()

    for _ in range(10):
        await access.admit(token)

    assert access.provider.asked == {"keys": 1, "principals": 1}


async def test_only_keys_of_algorithms_that_are_taken_are_waited_for(access: Access) -> None:
    await access.admit(access.provider.token())

    assert access.provider.algorithms == ["RS256"]


async def test_a_hot_call_need_not_wait(access: Access) -> None:
    token = access.provider.token()
    await access.admit(token)
    call = Call(POLICY, directory_service_pb2.GetPrincipalRequest(), {"authorization": f"Bearer {token}"})

    waiting = access.authenticator(call)

    assert waiting is None
    assert call.principal.subject == "worker"


async def test_a_preset_principal_stays(access: Access) -> None:
    system = Principal("system", frozenset({TenantId("default")}), frozenset())
    call = Call(POLICY, directory_service_pb2.GetPrincipalRequest(), {}, principal=system)

    waiting = access.authenticator(call)

    assert waiting is None
    assert call.principal is system


async def test_a_change_of_the_directory_is_seen_after_five_seconds(access: Access) -> None:
    token = access.provider.token()
    before = await access.admit(token)
    access.provider.permissions = ["job:work", "history:read"]

    access.clock.advance(timedelta(seconds=4))
    meanwhile = await access.admit(token)
    access.clock.advance(timedelta(seconds=1))
    after = await access.admit(token)

    assert before == meanwhile
    assert frozenset({"job:work", "history:read"}) == after.permissions


async def test_a_change_that_is_told_of_is_seen_at_once(access: Access) -> None:
    token = access.provider.token()
    await access.admit(token)
    access.provider.permissions = []

    access.authenticator.invalidate()

    assert await access.is_refused(token)


async def test_a_change_is_seen_by_those_that_it_affects(access: Access) -> None:
    token = access.provider.token()
    await access.admit(token)
    access.provider.refusal = Unauthenticated("the token was revoked")

    access.authenticator.invalidate(frozenset({"set-1"}))

    with pytest.raises(Unauthenticated, match="the token was revoked"):
        await access.admit(token)


async def test_a_change_that_affects_others_costs_nothing(access: Access) -> None:
    token = access.provider.token()
    await access.admit(token)

    access.authenticator.invalidate(frozenset({"set-2", "ada"}))
    await access.admit(token)

    assert access.provider.asked["principals"] == 1


async def test_a_change_makes_nobody_prove_anything_again(access: Access) -> None:
    token = access.provider.token()
    await access.admit(token)
    access.provider.key_set = new_key_set()

    access.clock.advance(timedelta(seconds=2))
    access.authenticator.invalidate()

    assert (await access.admit(token)).subject == "worker"
    assert access.provider.asked == {"keys": 1, "principals": 2}


async def test_a_change_does_not_make_an_admission_last_longer(access: Access) -> None:
    token = access.provider.token()
    await access.admit(token)
    access.clock.advance(timedelta(seconds=4))
    access.authenticator.invalidate()
    await access.admit(token)
    access.provider.permissions = []

    access.clock.advance(timedelta(seconds=1))

    assert await access.is_refused(token)


async def test_what_was_asked_before_a_change_does_not_outlast_it(access: Access) -> None:
    token = access.provider.token()
    access.provider.meanwhile = access.authenticator.invalidate
    await access.admit(token)
    access.provider.permissions = []

    assert await access.is_refused(token)


@pytest.mark.parametrize(("changed", "is_refused"), [("set-1", True), ("set-2", False)])
async def test_a_revocation_during_the_look_up_outdates_what_it_affects(
    access: Access, changed: str, *, is_refused: bool
) -> None:
    token = access.provider.token()

    def revoke() -> None:
        access.provider.refusal = Unauthenticated("the token was revoked")
        access.authenticator.invalidate(frozenset({changed}))

    access.provider.meanwhile = revoke

    assert await access.is_refused(token) is is_refused


async def test_an_open_call_is_checked_again_with_its_tenant_and_permission(access: Access) -> None:
    access.provider.permissions = ["identity:read"]
    headers = {"authorization": f"Bearer {access.provider.token(scope='identity:read')}"}
    call = Call(POLICY, directory_service_pb2.GetPrincipalRequest(), headers, tenant_id=TenantId("default"))

    await access.authenticator.readmit(call)
    known = call.principal.permissions
    access.provider.permissions = ["job:work"]
    access.authenticator.invalidate(frozenset({"worker"}))

    assert known == {"identity:read"}
    with pytest.raises(PermissionDenied):
        await access.authenticator.readmit(call)


async def test_the_directory_is_told_what_the_token_says(access: Access) -> None:
    await access.admit(access.provider.token(branch="oxford"))

    assert msgspec.json.decode(access.provider.claims)["branch"] == "oxford"


@pytest.mark.parametrize(
    ("kind", "actor_type"),
    [
        (directory_service_pb2.PRINCIPAL_KIND_USER, "USER"),
        (directory_service_pb2.PRINCIPAL_KIND_CLIENT, "CLIENT"),
    ],
)
async def test_the_directory_tells_people_from_clients(
    access: Access, kind: directory_service_pb2.PrincipalKind.ValueType, actor_type: str
) -> None:
    access.provider.kind = kind

    principal = await access.admit(access.provider.token())

    assert principal.actor_type == actor_type


async def test_a_rotation_is_noticed_by_its_new_key(access: Access) -> None:
    await access.admit(access.provider.token())
    access.provider.key_set = new_key_set()

    access.clock.advance(timedelta(seconds=1))
    principal = await access.admit(access.provider.token())

    assert principal.subject == "worker"


async def test_invented_keys_make_the_set_be_fetched_once_a_second(access: Access) -> None:
    for _ in range(10):
        assert await access.is_refused(FakeProvider().token())
    access.clock.advance(timedelta(seconds=1))
    assert await access.is_refused(FakeProvider().token())

    assert access.provider.asked["keys"] == 2


async def test_whoever_comes_while_the_set_is_fetched_waits_for_it(access: Access) -> None:
    tokens = [access.provider.token(sub=f"worker-{index}") for index in range(10)]

    principals = await asyncio.gather(*map(access.admit, tokens))

    assert [f"worker-{index}" for index in range(10)] == [principal.subject for principal in principals]
    assert access.provider.asked["keys"] == 1


async def test_calls_with_one_token_share_a_look_up(access: Access) -> None:
    token = access.provider.token()
    await access.admit(token)
    access.clock.advance(timedelta(seconds=5))

    principals = await asyncio.gather(*(access.admit(token) for _ in range(100)))

    assert {principal.subject for principal in principals} == {"worker"}
    assert access.provider.asked["principals"] == 2


async def test_one_call_renews_an_admission_before_it_ends(access: Access) -> None:
    token = access.provider.token()
    await access.admit(token)
    access.clock.advance(timedelta(seconds=4.6))

    await asyncio.gather(*(access.admit(token) for _ in range(100)))
    access.clock.advance(timedelta(seconds=1))
    await access.admit(token)

    assert access.provider.asked["principals"] == 2


async def test_the_call_that_renews_an_admission_sees_the_change(access: Access) -> None:
    token = access.provider.token()
    await access.admit(token)
    access.clock.advance(timedelta(seconds=4.6))
    access.provider.permissions = ["history:read"]

    principal = await access.admit(token)

    assert principal.permissions == frozenset({"history:read"})


async def test_a_renewal_without_an_answer_refuses_nothing_before_the_end(access: Access) -> None:
    token = access.provider.token()
    await access.admit(token)
    access.provider.is_away = True
    access.clock.advance(timedelta(seconds=4.6))

    principal = await access.admit(token)
    access.clock.advance(timedelta(seconds=0.4))

    assert principal.subject == "worker"
    with pytest.raises(Unavailable):
        await access.admit(token)


async def test_calls_after_a_change_share_no_look_up_from_before_it(access: Access) -> None:
    token = access.provider.token()

    def withdraw() -> None:
        access.provider.meanwhile = lambda: None
        access.provider.permissions = []
        access.authenticator.invalidate()
        later.append(asyncio.ensure_future(access.is_refused(token)))

    later: list[asyncio.Future[bool]] = []
    access.provider.meanwhile = withdraw
    await access.admit(token)

    assert [await each for each in later] == [True]


async def test_a_withdrawn_key_is_forgotten_in_the_end(access: Access) -> None:
    token = access.provider.token()
    await access.admit(token)
    access.provider.key_set = new_key_set()

    access.clock.advance(timedelta(seconds=300))

    assert await access.is_refused(token)


async def test_a_provider_that_is_away_is_not_the_callers_fault(access: Access) -> None:
    access.provider.is_away = True

    with pytest.raises(Unavailable):
        await access.admit(access.provider.token())


async def test_a_directory_that_is_away_is_not_the_callers_fault(access: Access) -> None:
    await access.admit(access.provider.token())
    access.provider.is_away = True

    with pytest.raises(Unavailable):
        await access.admit(access.provider.token(sub="another"))


async def test_keys_that_are_not_understood_are_passed_over(access: Access) -> None:
    strange = key_set_service_pb2.Jwk(kty="RSA", kid="strange", use="sig", alg="RS256", n="")
    unasked = key_set_service_pb2.Jwk(kty="EC", kid="unasked", use="sig", alg="ES256")
    access.provider.other_jwks = [strange, unasked]

    principal = await access.admit(access.provider.token())

    assert principal.subject == "worker"


async def test_no_more_is_kept_than_there_is_room_for() -> None:
    entries = Lru[str, int](2)
    entries.put("a", 1)
    entries.put("b", 2)
    entries.get("a")

    entries.put("c", 3)

    assert (entries.get("a"), entries.get("b"), entries.get("c")) == (1, None, 3)
    assert len(entries) == 2
