"""`gnomon batch begin`: begin a batch operation on the process instances that match."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

import msgspec
import typer

from gnomon.engine.v1 import batch_operation_service_pb2 as pb
from gnomon.engine.v1 import process_instance_service_pb2 as instance_pb
from gnomon.engine.v1.batch_operation_service_pb2_grpc import BatchOperationServiceStub
from gnomon.query.v1 import filter_pb2
from server.cli.batches import show_batch_operation
from server.cli.choices import InstanceState, equal
from server.cli.client_command import client_command
from server.cli.output import Output
from server.cli.session import Session


class Operation(StrEnum):
    CANCEL = "cancel"
    RESOLVE = "resolve"
    DELETE = "delete"
    ERASE = "erase"


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
) -> None:
    matching = instance_pb.ProcessInstanceFilter(
        process_definition_id=equal(process),
        business_id=equal(business_id),
        tags=tag or (),
        variables=[*_variables(variable or ())],
        state=state.filter() if state else None,
    )
    if key:
        matching.process_instance_key.CopyFrom(filter_pb2.KeyFilter(**{"in": key}))
    if name and operation is not Operation.ERASE:
        raise typer.BadParameter("only `erase` has names of variables", param_hint="--name")
    stub = BatchOperationServiceStub(session.channel)
    match operation:
        case Operation.CANCEL:
            cancellation = pb.CancelProcessInstancesBatchOperationRequest(filter=matching)
            begun = await session.call(stub.CancelProcessInstancesBatchOperation, cancellation)
            created = begun.batch_operation_key
        case Operation.RESOLVE:
            resolution = pb.ResolveIncidentsBatchOperationRequest(filter=matching)
            resolving = await session.call(stub.ResolveIncidentsBatchOperation, resolution)
            created = resolving.batch_operation_key
        case Operation.DELETE:
            deletion = pb.DeleteProcessInstancesBatchOperationRequest(filter=matching)
            deleting = await session.call(stub.DeleteProcessInstancesBatchOperation, deletion)
            created = deleting.batch_operation_key
        case Operation.ERASE:
            erasure = pb.EraseVariablesBatchOperationRequest(filter=matching, variable_names=name or ())
            erasing = await session.call(stub.EraseVariablesBatchOperation, erasure)
            created = erasing.batch_operation_key
    await show_batch_operation(session, output, created)


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
