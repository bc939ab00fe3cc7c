"""An import of a Keycloak realm file by the command line into a bundled server, then once more.

Processor time is that of the command, and at the end that of the server's processes and their database together, which
includes their start.
"""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.table import Table

from tests.server.cli.users import realm
from tests.server_process import COMMAND, DEMO_ACCESS, ROOT, server_in

USERS = 100_000


def table(users: int = USERS) -> Table:
    made = Table(title=f"Import of {users:,} users of a Keycloak realm")
    made.add_column("run")
    for column in ("seconds", "CPU s of the command", "peak MiB of the command"):
        made.add_column(column, justify="right")
    with TemporaryDirectory() as directory:
        file = realm.write_realm(Path(directory) / "realm.json", _users(users))
        before = _cpu_seconds()
        with server_in("bundled", environment=DEMO_ACCESS) as addresses:
            runs = [_run(addresses.grpc, file, run) for run in ("first", "repeated")]
        for name, seconds, spent, mebibytes in runs:
            made.add_row(name, f"{seconds:.1f}", f"{spent:.1f}", f"{mebibytes:.0f}")
        rest = _cpu_seconds() - before - sum(spent for _, _, spent, _ in runs)
        made.add_row("CPU s of server and database, both runs", f"{rest:.1f}", "", "")
        made.caption = f"realm file of {file.stat().st_size / 1_000_000:.0f} MB"
    return made


def _users(count: int) -> Iterator[Mapping[str, Any]]:
    kinds: Sequence[Mapping[str, Any]] = (
        *(realm.pbkdf2(name) for name in ("pbkdf2", "pbkdf2-sha256", "pbkdf2-sha512")),
        realm.argon2(),
    )
    for number in range(count):
        yield realm.user(
            f"user{number}",
            kinds[number % len(kinds)],
            groups=[f"/staff/team-{number % 20}"],
            realmRoles=["default-roles-acme", "clerk"],
            attributes={"department": [f"d{number % 7}"], "locale": ["de"]},
        )


def _run(address: str, file: Path, name: str) -> tuple[str, float, float, float]:
    begun, before = time.perf_counter(), _cpu_seconds()
    arguments = ("users", "import", str(file), "--format", "keycloak", "--create-labels")
    with subprocess.Popen(
        [*COMMAND, *arguments], cwd=ROOT, env={**os.environ, "GNOMON_CLIENT__ADDRESS": address}
    ) as command:
        _, status, usage = os.wait4(command.pid, 0)
        command.returncode = os.waitstatus_to_exitcode(status)
    if command.returncode:
        sys.exit(f"the import ended with {command.returncode}")
    return name, time.perf_counter() - begun, _cpu_seconds() - before, usage.ru_maxrss / 1024


def _cpu_seconds() -> float:
    """Processor time of processes that were waited for, and of those that they waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
