"""What no schema allows: one change to a value or to bytes that would be right."""

from collections.abc import Callable, Sequence

from tests.campaigns.dice import Dice
from tests.requests.values import SCALARS, STRINGS, Json

DEPTH = 2_000
# One more than a condition may have, of values short enough that the body keeps below its own bound.
MANY, SHORT = 1_001, 40
NESTED = (b"[" * DEPTH + b"]" * DEPTH, b'{"a":' * DEPTH + b"1" + b"}" * DEPTH)
NO_JSON = (
    b"",
    b"{",
    b"nul",
    b"\xff\xfe",
    b"{}{}",
    b'{"a":1,"a":2}',
    b'{"a":"\\ud800"}',
    b"NaN",
    b'""',
    *NESTED,
)


def changed(dice: Dice, value: Json) -> Json:
    """Return the value with another type, member or item at one place."""
    places = [place for place in _places(value, ()) if place]
    if not places:
        return dice.choice(SCALARS)
    return _changed(dice, value, dice.choice(places))


def _places(value: Json, place: tuple[str | int, ...]) -> Sequence[tuple[str | int, ...]]:
    match value:
        case dict():
            return [place, *(found for name in value for found in _places(value[name], (*place, name)))]
        case list():
            return [place, *(found for i, item in enumerate(value) for found in _places(item, (*place, i)))]
        case _:
            return [place]


def _changed(dice: Dice, value: Json, place: tuple[str | int, ...]) -> Json:
    name, *rest = place
    copy: Json = dict(value) if isinstance(value, dict) else list(value)
    if rest:
        copy[name] = _changed(dice, value[name], tuple(rest))
        return copy
    match dice.between(0, 6):
        case 0:
            del copy[name]
        case 1 if isinstance(copy, dict):
            copy[dice.choice(STRINGS)] = copy[name]
        case 2:
            copy[name] = [copy[name]]
        case 3:
            copy[name] = {"$in": [copy[name]] * (MANY if len(str(copy[name])) <= SHORT else 2)}
        case _:
            copy[name] = dice.choice(SCALARS)
    return copy


def garbled(dice: Dice, content: bytes) -> bytes:
    """Return the bytes with some of them cut off, doubled, replaced or swapped for others."""
    changes: Sequence[Callable[[int], bytes]] = (
        lambda at: content[:at],
        lambda at: content[:at] + content[at // 2 : at] + content[at:],
        lambda at: content[:at] + bytes([dice.between(0, 255)]) + content[at + 1 :],
        lambda at: content[:at] + dice.choice(STRINGS).encode() + content[at:],
        lambda _: dice.choice(NO_JSON),
    )
    return dice.choice(changes)(dice.between(0, len(content)))
