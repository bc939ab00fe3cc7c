"""Runs pg_dump and pg_restore from the configured installation, the wheel, or the PATH."""

import asyncio
import os
import shutil
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from server.cli.admin.dsn import without_password
from server.cli.admin.failures import CannotBegin, Failed
from server.platform.postgres.bundled.installation import INSIDE_A_WHEEL, WHEELS
from server.platform.postgres.bundled.programs import last_lines
from server.platform.postgres.config import DatabaseConfig

# Long enough to copy several terabytes.
RUN_SECONDS = 24 * 3600.0


async def run(name: str, *arguments: str | Path, config: DatabaseConfig, dsn: str | None = None) -> str:
    """Run a program, connected to the database if a DSN is given; return its output. Raises CannotBegin or Failed.

    The password is passed in the environment, which only the same account can read.
    """
    bare, password = without_password(dsn) if dsn else (None, None)
    process = await asyncio.create_subprocess_exec(
        _program(name, config),
        *(str(argument) for argument in arguments),
        *((f"--dbname={bare}",) if bare else ()),
        env={**os.environ, **({"PGPASSWORD": password} if password else {})},
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
    )
    try:
        async with asyncio.timeout(RUN_SECONDS):
            output, errors = await process.communicate()
    except TimeoutError:
        raise Failed(f"{name} did not end within {RUN_SECONDS:g} s") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise Failed(f"{name} ended with {process.returncode}: {last_lines(errors.decode(errors='replace'))}")
    return output.decode(errors="replace")


def _program(name: str, config: DatabaseConfig) -> Path:
    for folder in _folders(config):
        if (folder / name).is_file():
            return folder / name
    found = shutil.which(name)
    if found is None:
        raise CannotBegin(
            f"expected {name} in database.installation, one of the wheels {', '.join(WHEELS)} or the path, found none"
        )
    return Path(found)


def _folders(config: DatabaseConfig) -> Iterator[Path]:
    if config.installation is not None:
        yield config.installation / "bin"
    for wheel in WHEELS:
        spec = find_spec(wheel)
        for place in (spec and spec.submodule_search_locations) or ():
            yield Path(place) / INSIDE_A_WHEEL / "bin"
