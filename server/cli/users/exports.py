"""`gnomon users export`: write the accounts of a tenant to a file."""

import csv
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TextIO

import typer

from gnomon.identity.v1 import user_transfer_service_pb2 as pb
from gnomon.identity.v1.user_transfer_service_pb2 import TransferredUser
from gnomon.identity.v1.user_transfer_service_pb2_grpc import UserTransferServiceStub
from server.cli.client_command import client_command
from server.cli.failures import give_up
from server.cli.output import Output
from server.cli.session import Session
from server.cli.users.columns import COLUMNS, values_of
from server.cli.users.json_lines import line_of

_OWNERS_ALONE = 0o600


class ExportFormat(StrEnum):
    CSV = "csv"
    JSONL = "jsonl"


@client_command
async def export_users(
    session: Session,
    output: Output,
    file: Annotated[Path, typer.Argument(help="File to write, which must not exist.")],
    *,
    file_format: Annotated[
        ExportFormat, typer.Option("--format", help="CSV, or JSON lines, which also have links to providers.")
    ] = ExportFormat.JSONL,
    with_password_hashes: Annotated[
        bool,
        typer.Option(
            "--with-password-hashes",
            help="For administrators of the whole deployment; creates a security event.",
        ),
    ] = False,
) -> None:
    count = 0
    try:
        # Users are personal data, and their password hashes are secrets.
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNERS_ALONE)
        with (
            ExitStack() as failure,
            os.fdopen(descriptor, "w", encoding="utf-8", newline="") as opened,
        ):
            # An incomplete export must not look like a complete one.
            failure.callback(file.unlink)
            write = _writer(file_format, opened)
            async for page in _pages(session, with_password_hashes=with_password_hashes):
                write(page)
                count += len(page)
            failure.pop_all()
    except OSError as error:
        give_up(f"cannot write {file}: {error.strerror}")
    output.print(f"{count} users written to {file}")


async def _pages(session: Session, *, with_password_hashes: bool) -> AsyncIterator[Sequence[TransferredUser]]:
    stub = UserTransferServiceStub(session.channel)
    request = pb.ExportUsersRequest(tenant_id=session.tenant, with_password_hashes=with_password_hashes)
    while True:
        answer = await session.call(stub.ExportUsers, request)
        yield answer.users
        if not answer.continuation_token:
            return
        request.continuation_token = answer.continuation_token


def _writer(file_format: ExportFormat, opened: TextIO) -> Callable[[Sequence[TransferredUser]], None]:
    if file_format is ExportFormat.JSONL:
        return lambda page: opened.writelines(f"{line_of(user)}\n" for user in page)
    rows = csv.DictWriter(opened, COLUMNS)
    rows.writeheader()
    return lambda page: rows.writerows(map(values_of, page))
