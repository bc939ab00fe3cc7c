"""Keys by version number, kept in the order of the numbers even if versions are added out of order."""

from bisect import bisect_right
from collections.abc import Callable
from typing import TypeVar

from server.engine.keys import Key

N = TypeVar("N", bound=tuple[str, ...])

Versions = dict[int, Key]


def add(versions: Versions, number: int, key: Key) -> None:
    is_out_of_order = bool(versions) and number < next(reversed(versions))
    versions[number] = key
    if is_out_of_order:
        in_order = sorted(versions.items())
        versions.clear()
        versions.update(in_order)


def latest(versions: Versions) -> Key:
    """The key of the highest version number; `versions` must not be empty."""
    return versions[next(reversed(versions))]


def forget(known: dict[N, Versions], name: N, number: int) -> None:
    """Remove a version number, and the name with its last number."""
    del known[name][number]
    if not known[name]:
        del known[name]


def deployed_with(versions: Versions, deployment_key: Key, deployment_of: Callable[[Key], Key]) -> Key | None:
    """The key of the version that this deployment contained."""
    keys = list(versions.values())
    place = bisect_right(keys, deployment_key, key=deployment_of)
    return keys[place - 1] if place and deployment_of(keys[place - 1]) == deployment_key else None
