"""Ports of programs that are ended and started again at the same address."""

import secrets
from pathlib import Path

from server.platform.sockets import PortTaken, expect_free

TRIES = 100
WIDTH = 10_000  # of the range below the ports of outgoing connections
FIRST_OUTGOING = 32_768  # where the system does not say


def kept_port(host: str, *, in_a_row: int = 1) -> int:
    """A free port that the system gives to no outgoing connection, so that a program finds it free every time.

    It is the first of as many free ones as are asked for.
    """
    end = _first_outgoing()
    for _ in range(TRIES):
        port = end - in_a_row - secrets.randbelow(WIDTH)
        try:
            for number in range(in_a_row):
                expect_free(host, port + number, section="test")
        except PortTaken:
            continue
        return port
    raise OSError(f"no {in_a_row} ports in a row below {end} are free at {host}")


def _first_outgoing() -> int:
    try:
        return int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    except OSError:
        return FIRST_OUTGOING
