"""`gnomon users export-data` and `erase`: write everything that is stored about a user, or erase the user."""

import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from edge import personal_document as document
from gnomon.engine.v1 import personal_data_service_pb2 as engine_pb
from gnomon.engine.v1.personal_data_service_pb2_grpc import PersonalDataServiceStub as EngineStub
from gnomon.identity.v1 import personal_data_service_pb2 as pb
from gnomon.identity.v1 import user_service_pb2
from gnomon.identity.v1.personal_data_service_pb2_grpc import PersonalDataServiceStub
from gnomon.identity.v1.user_service_pb2_grpc import UserServiceStub
from server.cli.client_command import client_command
from server.cli.failures import give_up
from server.cli.output import Output
from server.cli.session import Session
from server.platform.errors import ModeNotSupported

_OWNERS_ALONE = 0o600


@client_command
async def export_data(
    session: Session,
    output: Output,
    user: Annotated[str, typer.Argument(help="Id or e-mail address of the user.")],
    *,
    processes: Annotated[
        bool,
        typer.Option("--processes", help="Include user tasks, audit entries and process instances."),
    ] = False,
    file: Annotated[
        Path | None,
        typer.Option("--output", help="File to write, which must not exist; else the standard output."),
    ] = None,
) -> None:
    user_id = await id_of(session, user)
    if file is None:
        await _write(session, user_id, sys.stdout.buffer.write, has_processes=processes)
        return
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNERS_ALONE)
        with ExitStack() as failure, os.fdopen(descriptor, "wb") as opened:
            # An incomplete document must not look like a complete one.
            failure.callback(file.unlink)
            await _write(session, user_id, opened.write, has_processes=processes)
            failure.pop_all()
    except OSError as error:
        give_up(f"cannot write {file}: {error.strerror}")
    output.print(f"the data of user {user_id} is in {file}")


@client_command
async def erase(
    session: Session,
    output: Output,
    user: Annotated[
        str, typer.Argument(help="Id or e-mail address of the user, or the pseudonym with --status.")
    ],
    *,
    status: Annotated[
        bool, typer.Option("--status", help="Show a running or completed erasure, by its pseudonym.")
    ] = False,
) -> None:
    stub = PersonalDataServiceStub(session.channel)
    if status:
        asked = pb.GetErasureRequest(tenant_id=session.tenant, pseudonym=user)
        erasure = (await session.call(stub.GetErasure, asked)).erasure
    else:
        request = pb.EraseUserRequest(tenant_id=session.tenant, user_id=await id_of(session, user))
        erasure = (await session.call(stub.EraseUser, request)).erasure
    output.show(erasure, _report(erasure))


def _report(erasure: pb.Erasure) -> str:
    state = "completed" if erasure.is_completed else "running"
    counts = (
        f"records removed after the account: {erasure.removed_records}",
        f"events with the pseudonym: {erasure.rewritten_events}",
        f"active user tasks with the pseudonym: {erasure.user_tasks}",
        f"rows of history with the pseudonym: {erasure.rewritten_rows}",
        *(f"stays: {each.data}, because {each.reason}" for each in erasure.kept),
    )
    return "\n".join((f"{erasure.pseudonym}: {state}", *counts))


async def id_of(session: Session, user: str) -> str:
    """Return the id of the user with this id or e-mail address; raises NotFound for an unknown address."""
    if "@" not in user:
        return user
    request = user_service_pb2.GetUserByEmailRequest(tenant_id=session.tenant, email=user)
    return (await session.call(UserServiceStub(session.channel).GetUserByEmail, request)).user.id


async def _write(
    session: Session, user_id: str, write: Callable[[bytes], object], *, has_processes: bool
) -> None:
    sections, is_begun = document.Sections(), False
    async for page in _records(session, user_id):
        if not is_begun:
            is_begun = True
            write(document.beginning(user_id=user_id, tenant_id=session.tenant, exported_at=page.exported_at))
        write(sections.written((each.section, each.content.encode()) for each in page.records))
    write(sections.end())
    write(document.BETWEEN)
    try:
        write(await _processes(session, user_id, write) if has_processes else document.WITHOUT_PROCESSES)
    except ModeNotSupported:
        # The embedded mode keeps no history.
        write(document.WITHOUT_PROCESSES)
    write(document.END)


async def _processes(session: Session, user_id: str, write: Callable[[bytes], object]) -> bytes:
    """Write the rows about the user, and return the end of the object."""
    sections = document.Sections()
    stub, request = EngineStub(session.channel), engine_pb.ListPersonalDataRequest(user_id=user_id)
    while True:
        page = await session.call(stub.ListPersonalData, request)
        write(sections.written((each.section, each.content) for each in page.items))
        if not page.HasField("cursor"):
            return sections.end()
        request.cursor = page.cursor


async def _records(session: Session, user_id: str) -> AsyncIterator[pb.ExportPersonalDataResponse]:
    stub = PersonalDataServiceStub(session.channel)
    request = pb.ExportPersonalDataRequest(tenant_id=session.tenant, user_id=user_id)
    while True:
        page = await session.call(stub.ExportPersonalData, request)
        yield page
        if not page.continuation_token:
            return
        request.continuation_token = page.continuation_token
