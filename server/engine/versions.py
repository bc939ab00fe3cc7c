"""Keys by version number, in the order of the numbers, whatever order the versions become known in."""

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
    """The key of the highest number; there has to be one."""
    return versions[next(reversed(versions))]


def forget(known: dict[N, Versions], name: N, number: int) -> None:
    """Let a number of a name go, and the name with its last number."""
    del known[name][number]
    if not known[name]:
        del known[name]


def deployed_with(versions: Versions, deployment_key: Key, deployment_of: Callable[[Key], Key]) -> Key | None:
    """The key of the version that came with this deployment."""
    keys = list(versions.values())
    place = bisect_right(keys, deployment_key, key=deployment_of)
    return keys[place - 1] if place and deployment_of(keys[place - 1]) == deployment_key else None
