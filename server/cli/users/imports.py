"""`gnomon users import`: create accounts from a file, with their password hashes."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import orjson
import typer

from gnomon.identity.v1 import user_transfer_service_pb2 as pb
from server.cli.client_command import client_command
from server.cli.failures import REFUSED, give_up
from server.cli.output import Output
from server.cli.session import Session
from server.cli.users.batches import Imports, Refusal, Tally
from server.cli.users.columns import csv_rows
from server.cli.users.json_lines import json_rows
from server.cli.users.keycloak import keycloak_rows
from server.cli.users.row import Part, Reader, Row, UnreadableFile, leave_out

_MOST_SHOWN = 20
_PROGRESS_STEP = 10_000


class ImportFormat(StrEnum):
    KEYCLOAK = "keycloak"
    CSV = "csv"
    JSONL = "jsonl"


_READERS: Mapping[ImportFormat, Reader] = {
    ImportFormat.KEYCLOAK: keycloak_rows,
    ImportFormat.CSV: csv_rows,
    ImportFormat.JSONL: json_rows,
}
_PLACES = {ImportFormat.KEYCLOAK: "user", ImportFormat.CSV: "line", ImportFormat.JSONL: "line"}


@client_command
async def import_users(
    session: Session,
    output: Output,
    file: Annotated[Path, typer.Argument(help="File with the users.")],
    *,
    file_format: Annotated[
        ImportFormat, typer.Option("--format", help="A Keycloak realm file, CSV, or JSON lines of an export.")
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the results without creating anything.")
    ] = False,
    create_labels: Annotated[
        bool,
        typer.Option("--create-labels", help="Also create missing groups, roles and attributes."),
    ] = False,
    allow_administrators: Annotated[
        bool, typer.Option("--allow-administrators", help="Accept users who would be administrators.")
    ] = False,
    without: Annotated[
        list[Part] | None, typer.Option(help="Part of the users to leave out; may be repeated.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="CSV file to write with a line for each refused user.")
    ] = None,
) -> None:
    request = pb.ImportUsersRequest(
        tenant_id=session.tenant,
        dry_run=dry_run,
        creates_labels=create_labels,
        allows_administrators=allow_administrators,
    )
    tally = Tally(_Progress().note)
    try:
        with file.open("rb") as opened:
            rows = _without(_READERS[file_format](opened), without or ())
            await Imports(session, request, tally).run(rows)
    except OSError as error:
        give_up(f"cannot read {file}: {error.strerror}")
    except UnreadableFile as error:
        give_up(f"cannot read {file}: {error}; {tally.created} users were made")
    tally.refusals.sort(key=lambda refusal: refusal.place)
    if report is not None:
        _write(report, tally.refusals, _PLACES[file_format])
    _show(output, tally, _PLACES[file_format], is_dry_run=dry_run)
    if tally.refusals:
        raise typer.Exit(REFUSED)


def _without(rows: Iterable[Row], parts: Iterable[Part]) -> Iterator[Row]:
    chosen = tuple(parts)
    for row in rows:
        if row.user is not None:
            for part in chosen:
                leave_out(part, row.user)
        yield row


class _Progress:
    """Prints progress to standard error at intervals."""

    def __init__(self) -> None:
        self._next = _PROGRESS_STEP

    def note(self, tally: Tally) -> None:
        if tally.settled >= self._next:
            typer.echo(f"{tally.settled} users so far, {len(tally.refusals)} of them refused", err=True)
            self._next = (tally.settled // _PROGRESS_STEP + 1) * _PROGRESS_STEP


def _show(output: Output, tally: Tally, place: str, *, is_dry_run: bool) -> None:
    if output.is_json:
        refused = [{place: each.place, "name": each.name, "reason": each.reason} for each in tally.refusals]
        counts = {"created": tally.created, "unchanged": tally.unchanged, "refused": refused}
        output.document(orjson.dumps({"dry_run": is_dry_run, **counts}))
        return
    for each in tally.refusals[:_MOST_SHOWN]:
        typer.echo(f"{place} {each.place} ({each.name}): {each.reason}", err=True)
    if len(tally.refusals) > _MOST_SHOWN:
        typer.echo(f"{len(tally.refusals) - _MOST_SHOWN} more were refused; --report writes all", err=True)
    made = "would be made" if is_dry_run else "made"
    output.print(f"{tally.created} {made}, {tally.unchanged} unchanged, {len(tally.refusals)} refused")


def _write(report: Path, refusals: Iterable[Refusal], place: str) -> None:
    try:
        with report.open("w", encoding="utf-8", newline="") as opened:
            writer = csv.writer(opened)
            writer.writerow((place, "name", "reason"))
            writer.writerows((each.place, each.name, each.reason) for each in refusals)
    except OSError as error:
        give_up(f"cannot write {report}: {error.strerror}")
