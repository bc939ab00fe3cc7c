"""Runs an installation's programs under the server's account, so that they end with this process.

Each program inherits the server lock, which is free again only when the last of them has ended.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from server.platform.postgres.bundled import prelude
from server.platform.postgres.bundled.account import Account
from server.platform.postgres.bundled.errors import PostgresError
from server.platform.postgres.bundled.installation import Installation

PRELUDE = (sys.executable, "-I", "-S", prelude.__file__)
# Excludes the caller's environment, because PostgreSQL would obey PGPORT, PGDATA and the like.
ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}
LAST_LINES = 12


@dataclass(frozen=True, slots=True)
class Programs:
    """The programs of an installation; `directory` is their working directory, writable for the account."""

    installation: Installation
    account: Account
    server_lock: int
    directory: Path

    def start(
        self,
        name: str,
        *arguments: str | Path,
        output: IO[bytes],
        stdin: int = subprocess.DEVNULL,
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start a program. Call it in the main thread: the kernel ends the program with the calling thread."""
        account = self.account
        script = (*PRELUDE, account.name, account.uid, account.gid, os.getpid())
        return subprocess.Popen(  # noqa: S603  # a list of arguments, no shell
            [str(word) for word in (*script, self.installation.binaries / name, *arguments)],
            stdin=stdin,
            stdout=output,
            stderr=output,
            cwd=self.directory,
            env={**ENVIRONMENT, **(environment or {})},
            pass_fds=[self.server_lock],
            # Ctrl-C goes to the owner only, which stops the server after its own work.
            start_new_session=True,
        )

    def run(
        self,
        name: str,
        *arguments: str | Path,
        seconds: float,
        stdin: str = "",
        environment: Mapping[str, str] | None = None,
    ) -> str:
        """Run a program and return its output; raises PostgresError if it fails or exceeds the time."""
        # A file instead of a pipe, because a surviving grandchild would keep the pipe open.
        with tempfile.TemporaryFile() as output:
            process = self.start(
                name, *arguments, output=output, stdin=subprocess.PIPE, environment=environment
            )
            _await_end(process, name, stdin=stdin, seconds=seconds)
            output.seek(0)
            printed = output.read().decode(errors="replace")
        if process.returncode:
            raise PostgresError(f"{name} ended with {process.returncode}: {last_lines(printed)}")
        return printed


def last_lines(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-LAST_LINES:])


def _await_end(process: subprocess.Popen[bytes], name: str, *, stdin: str, seconds: float) -> None:
    with process:
        try:
            process.communicate(stdin.encode(), timeout=seconds)
        except subprocess.TimeoutExpired:
            raise PostgresError(f"{name} did not end within {seconds:g} s") from None
        finally:
            process.kill()
