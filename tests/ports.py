"""Ports for servers whose processes listen at one after the other."""

import os
from contextlib import suppress

from server.platform.sockets import PortTaken, expect_free

# Below the ports that the system gives to connections, so that none is taken between the choice and its use.
_LOWEST, _HIGHEST = 10_000, 30_000


def ports_in_a_row(host: str, count: int) -> int:
    """Return the first of `count` free ports; test processes start at different places of the range."""
    places = (_HIGHEST - _LOWEST) // count
    for number in range(places):
        first = _LOWEST + (os.getpid() + number) % places * count
        with suppress(PortTaken):
            for port in range(first, first + count):
                expect_free(host, port, section="metrics")
            return first
    raise OSError(f"no {count} ports in a row are free at {host}")
