"""Property: after any sequence of key operations, issued signatures stay verifiable."""

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from identity.crypto.jose.algorithms import ALGORITHMS, KeyKind
from identity.crypto.keys.master_keys import Sealed
from identity.crypto.keys.stored import StoredKey, StoredKeySet
from tests.identity.crypto.keys.rings import ACME, NOON

RETENTION = timedelta(days=90)
KIDS = count()

STEPS = st.one_of(
    st.sampled_from(["complete", "announce", "rotate", "drop"]),
    st.integers(1, 60 * 24).map(lambda hours: timedelta(hours=hours)),
)


def keys(kinds: Iterable[KeyKind]) -> list[StoredKey]:
    return [
        StoredKey(
            kid=f"{next(KIDS):024}",
            algorithm=kind.algorithm,
            public_key=b"",
            sealed=Sealed("k", b""),
            announced_at=NOON,
        )
        for kind in kinds
    ]


@given(st.lists(STEPS, max_size=40))
def test_keys_that_sign_are_one_each_and_stay_as_long_as_their_tokens(steps: list[str | timedelta]) -> None:
    now = NOON
    stored = StoredKeySet.new(ACME, keys(kind for kind in ALGORITHMS if kind.is_quick), now)
    signed_at = dict.fromkeys((key.kid for key in stored.keys), now)
    for step in steps:
        match step:
            case "complete":
                stored = stored.completed(keys(stored.lacking_active), now)
            case "announce":
                stored = stored.announced(keys(stored.lacking_next), now)
            case "rotate":
                stored = stored.rotated(now) if not stored.lacking_next else stored
            case timedelta():
                now += step
            case _:
                stored = stored.without_ended(now, RETENTION)
        active = [key for key in stored.keys if key.is_active]
        signed_at |= {key.kid: now for key in active}

        assert max(Counter(key.algorithm for key in active).values()) == 1
        assert {kid for kid, last in signed_at.items() if now < last + RETENTION} <= {
            key.kid for key in stored.keys
        }
        assert list(stored.keys[: len(active)]) == active
        assert all(key.sealed is None for key in stored.keys if key.retired_at is not None)
        assert all(key.sealed is not None for key in stored.keys if key.retired_at is None)


@given(st.integers(2, 5))
def test_retired_keys_come_newest_first(rotations: int) -> None:
    stored = StoredKeySet.new(ACME, keys(ALGORITHMS), NOON)
    for day in range(rotations):
        now = NOON + timedelta(days=day)
        stored = stored.announced(keys(stored.lacking_next), now).rotated(now)

    kids = [key.kid for key in stored.keys]
    assert kids == [kid for first in range(len(kids) - 5, -1, -5) for kid in sorted(kids)[first : first + 5]]
