"""`gnomon batch`: list batch operations with their progress, suspend, resume and cancel them."""

from typing import Annotated

import typer

from gnomon.engine.v1 import batch_operation_service_pb2 as pb
from gnomon.engine.v1.batch_operation_service_pb2_grpc import BatchOperationServiceStub
from server.cli.choices import NEWEST_FIRST, Limit, page
from server.cli.client_command import client_command
from server.cli.output import Output
from server.cli.session import Session
from server.cli.tables import table_of
from server.cli.terminal_table import Columns

COLUMNS = Columns(
    "batch operations",
    {
        "Key": "batch_operation_key",
        "Type": "batch_operation_type",
        "State": "state",
        "Items": "operations_total_count",
        "Completed": "operations_completed_count",
        "Failed": "operations_failed_count",
        "Started": "start_date",
        "Ended": "end_date",
        "Actor": "actor_id",
    },
    expendable=("Actor", "Ended", "Started", "Failed", "Completed", "Items"),
)

BatchKey = Annotated[int, typer.Argument(min=1, help="Key of the batch operation.")]


@client_command
async def list_batches(session: Session, output: Output, limit: Limit = 50) -> None:
    request = pb.SearchBatchOperationsRequest(
        sort=[pb.BatchOperationSort(field="batchOperationKey", order=NEWEST_FIRST)], page=page(limit)
    )
    found = await session.call(BatchOperationServiceStub(session.channel).SearchBatchOperations, request)
    output.show(found, table_of(found.items, COLUMNS, total=found.page.total_items))


@client_command
async def show_batch(session: Session, output: Output, key: BatchKey) -> None:
    await show_batch_operation(session, output, key)


@client_command
async def suspend(session: Session, output: Output, key: BatchKey) -> None:
    request = pb.SuspendBatchOperationRequest(batch_operation_key=key)
    await session.call(BatchOperationServiceStub(session.channel).SuspendBatchOperation, request)
    await show_batch_operation(session, output, key)


@client_command
async def resume(session: Session, output: Output, key: BatchKey) -> None:
    request = pb.ResumeBatchOperationRequest(batch_operation_key=key)
    await session.call(BatchOperationServiceStub(session.channel).ResumeBatchOperation, request)
    await show_batch_operation(session, output, key)


@client_command
async def cancel(session: Session, output: Output, key: BatchKey) -> None:
    request = pb.CancelBatchOperationRequest(batch_operation_key=key)
    await session.call(BatchOperationServiceStub(session.channel).CancelBatchOperation, request)
    await show_batch_operation(session, output, key)


async def show_batch_operation(session: Session, output: Output, key: int) -> None:
    request = pb.GetBatchOperationRequest(batch_operation_key=key)
    answer = await session.call(BatchOperationServiceStub(session.channel).GetBatchOperation, request)
    output.show(answer, table_of([answer.batch_operation], COLUMNS))
