"""`gnomon admin backup`: write a consistent backup of the whole database to one file."""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from server.cli.admin.archive import expect_backup
from server.cli.admin.command import admin_command
from server.cli.admin.deployment import Deployment, expect_answer
from server.cli.admin.failures import CannotBegin
from server.cli.admin.programs import run
from server.cli.admin.report import show, table_of
from server.cli.output import Output
from server.cli.terminal_table import Columns

COLUMNS = Columns(
    "backups",
    {"File": "file", "MiB": "mebibytes", "Seconds": "seconds"},
)
_MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class BackupRow:
    """A row of the table of backups; `size` is in bytes."""

    file: str
    size: int
    seconds: float

    @property
    def mebibytes(self) -> str:
        return f"{self.size / _MEBIBYTE:.1f}"


@admin_command
async def backup(
    deployment: Deployment,
    output: Output,
    file: Annotated[Path, typer.Argument(help="File to write; it must not exist.")],
) -> None:
    await expect_answer(deployment.dsn)
    begun = time.monotonic()
    config = deployment.config.database
    with output.waiting("Backing up"), _drafted(file) as draft:
        await run("pg_dump", "--format=custom", f"--file={draft}", config=config, dsn=deployment.dsn)
        await expect_backup(draft, config)
    written = BackupRow(str(file), file.stat().st_size, round(time.monotonic() - begun, 1))
    show(output, table_of([written], COLUMNS), backup=written)


@contextmanager
def _drafted(file: Path) -> Iterator[Path]:
    """Provide a temporary file beside the target, and rename it if the block succeeds, so that no partial backup remains."""
    if file.exists():
        raise CannotBegin(f"expected no file {file}, found one")
    try:
        # Only the owner may read the file.
        descriptor, name = tempfile.mkstemp(prefix=f"{file.name}.", dir=file.parent)
    except OSError as error:
        raise CannotBegin(f"cannot write {file}: {error.strerror}") from error
    draft = Path(name)
    try:
        yield draft
        os.fsync(descriptor)
        draft.rename(file)
    finally:
        os.close(descriptor)
        draft.unlink(missing_ok=True)
