"""`gnomon batch begin`: begin a batch operation on the process instances that match."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, assert_never

import msgspec
import typer

from gnomon.engine.v1 import batch_operation_pb2 as entity_pb
from gnomon.engine.v1 import batch_operation_service_pb2 as pb
from gnomon.engine.v1 import process_instance_service_pb2 as instance_pb
from gnomon.engine.v1.batch_operation_service_pb2_grpc import BatchOperationServiceStub
from gnomon.query.v1 import filter_pb2
from server.cli.batches import show_batch_operation
from server.cli.choices import InstanceState, equal
from server.cli.client_command import client_command
from server.cli.output import Output
from server.cli.session import Session
from server.cli.tables import table_of
from server.cli.terminal_table import Columns

MOST_ITEMS = 250_000

COLUMNS = Columns(
    "items", {"Items": "total_items", "Begins up to": "at_most", "First": "sample_keys"}, expendable=()
)


class Operation(StrEnum):
    CANCEL = "cancel"
    RESOLVE = "resolve"
    DELETE = "delete"
    ERASE = "erase"


_TYPES: Mapping[Operation, entity_pb.BatchOperationType.ValueType] = {
    Operation.CANCEL: entity_pb.BATCH_OPERATION_TYPE_CANCEL_PROCESS_INSTANCE,
    Operation.RESOLVE: entity_pb.BATCH_OPERATION_TYPE_RESOLVE_INCIDENT,
    Operation.DELETE: entity_pb.BATCH_OPERATION_TYPE_DELETE_PROCESS_INSTANCE,
    Operation.ERASE: entity_pb.BATCH_OPERATION_TYPE_ERASE_VARIABLES,
}


@client_command
async def begin(
    session: Session,
    output: Output,
    operation: Annotated[
        Operation,
        typer.Argument(
            help="cancel: cancel active instances; resolve: resolve their incidents; delete: delete the history of"
            " ended instances; erase: erase variables of active and ended instances."
        ),
    ],
    *,
    key: Annotated[list[int] | None, typer.Option(help="Key of an instance; may be repeated.")] = None,
    process: Annotated[str | None, typer.Option(help="Id of the process.")] = None,
    business_id: Annotated[str | None, typer.Option(help="Business id.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Tag; may be repeated.")] = None,
    variable: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Variable with its value as JSON; may be repeated."),
    ] = None,
    state: Annotated[
        InstanceState | None, typer.Option(case_sensitive=False, help="State of the instances.")
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(help="Name of a variable to erase; may be repeated. Without names, all are erased."),
    ] = None,
    at_most: Annotated[
        int | None,
        typer.Option(min=1, max=MOST_ITEMS, help="Number of items up to which the operation begins."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the number of items and the keys of some; change nothing.")
    ] = False,
) -> None:
    matching = instance_pb.ProcessInstanceFilter(
        process_definition_id=equal(process),
        business_id=equal(business_id),
        tags=tag or (),
        variables=[*_variables(variable or ())],
        state=state.filter() if state else None,
    )
    if key:
        getattr(matching.process_instance_key, "in").extend(key)  # a word of Python
    if name and operation is not Operation.ERASE:
        raise typer.BadParameter("only `erase` has names of variables", param_hint="--name")
    if dry_run:
        await _preview(session, output, operation, matching)
        return
    stub = BatchOperationServiceStub(session.channel)
    match operation:
        case Operation.CANCEL:
            cancel = pb.CancelProcessInstancesBatchOperationRequest(filter=matching, at_most=at_most)
            created = (
                await session.call(stub.CancelProcessInstancesBatchOperation, cancel)
            ).batch_operation_key
        case Operation.RESOLVE:
            resolve = pb.ResolveIncidentsBatchOperationRequest(filter=matching, at_most=at_most)
            created = (await session.call(stub.ResolveIncidentsBatchOperation, resolve)).batch_operation_key
        case Operation.DELETE:
            delete = pb.DeleteProcessInstancesBatchOperationRequest(filter=matching, at_most=at_most)
            created = (
                await session.call(stub.DeleteProcessInstancesBatchOperation, delete)
            ).batch_operation_key
        case Operation.ERASE:
            erase = pb.EraseVariablesBatchOperationRequest(
                filter=matching, variable_names=name or (), at_most=at_most
            )
            created = (await session.call(stub.EraseVariablesBatchOperation, erase)).batch_operation_key
        case _:
            assert_never(operation)
    await show_batch_operation(session, output, created)


async def _preview(
    session: Session, output: Output, operation: Operation, matching: instance_pb.ProcessInstanceFilter
) -> None:
    request = pb.PreviewBatchOperationRequest(batch_operation_type=_TYPES[operation], filter=matching)
    answer = await session.call(BatchOperationServiceStub(session.channel).PreviewBatchOperation, request)
    output.show(answer, table_of([answer], COLUMNS))


def _variables(texts: list[str] | tuple[()]) -> Iterator[instance_pb.VariableValueFilter]:
    for text in texts:
        name, separator, value = text.partition("=")
        if not (name and separator and _is_json(value)):
            raise typer.BadParameter(
                f"expected a name and a JSON value as a=1, found {text!r}", param_hint="--variable"
            )
        yield instance_pb.VariableValueFilter(name=name, value=filter_pb2.StringFilter(eq=value))


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except msgspec.DecodeError:
        return False
    return True
