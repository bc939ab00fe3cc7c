"""The command: from a file or a key to the picture on standard output or in a file."""

import sys
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gnomon.engine.v1 import process_definition_service_pb2 as definitions
from gnomon.engine.v1 import process_instance_service_pb2 as instances
from gnomon.engine.v1.element_instance_pb2 import ProcessElementStatistics
from gnomon.engine.v1.process_definition_service_pb2_grpc import ProcessDefinitionServiceStub
from gnomon.engine.v1.process_instance_service_pb2_grpc import ProcessInstanceServiceStub
from server.cli.client_command import options_command
from server.cli.diagram.plan import NoDiagram, Plan, plan_of
from server.cli.diagram.png import PngCanvas
from server.cli.diagram.shapes import Tokens, draw
from server.cli.diagram.svg import SvgCanvas
from server.cli.failures import give_up
from server.cli.files import read_file
from server.cli.options import ClientOptions
from server.cli.session import Session, connected
from server.platform.errors import NotFound


class Format(StrEnum):
    SVG = "svg"
    PNG = "png"


@dataclass(frozen=True, slots=True)
class _Source:
    """A model, its process, and the counts of its elements; `taken` are the sequence flows of an instance."""

    xml: bytes
    process_id: str = ""
    tokens: Mapping[str, Tokens] = field(default_factory=dict)
    taken: AbstractSet[str] = frozenset()


@options_command
async def diagram(
    options: ClientOptions,
    source: Annotated[
        str, typer.Argument(help="BPMN file, or the key of a process definition or of a process instance.")
    ],
    output: Annotated[Format, typer.Option(help="Format of the picture.")] = Format.SVG,
    file: Annotated[Path | None, typer.Option(help="File to write; standard output if omitted.")] = None,
) -> None:
    if output is Format.PNG and file is None and sys.stdout.isatty():
        give_up("a PNG is no text for a terminal; name a file with --file, or redirect the output")
    found = await _of_server(options, int(source)) if _is_key(source) else _Source(read_file(Path(source)))
    try:
        picture = _picture(plan_of(found.xml, found.process_id), found, output)
    except NoDiagram as error:
        give_up(f"cannot draw {source}: {error}")
    if file is None:
        typer.echo(picture, nl=False)
        return
    try:
        file.write_bytes(picture)
    except OSError as error:
        give_up(f"cannot write {file}: {error.strerror}")


def _is_key(source: str) -> bool:
    return source.isascii() and source.isdecimal() and not Path(source).exists()


def _picture(plan: Plan, found: _Source, output: Format) -> bytes:
    if output is Format.PNG:
        image = PngCanvas(plan.frame)
        draw(plan, image, found.tokens, found.taken)
        return image.document()
    drawn = SvgCanvas(plan.frame)
    draw(plan, drawn, found.tokens, found.taken)
    return drawn.document().encode()


async def _of_server(options: ClientOptions, key: int) -> _Source:
    """Return the instance with this key, else the process definition; raises ServiceError."""
    async with connected(options) as session:
        try:
            return await _of_instance(session, key)
        except NotFound:
            return await _of_definition(session, key)


async def _of_instance(session: Session, key: int) -> _Source:
    stub = ProcessInstanceServiceStub(session.channel)
    found = await session.call(
        stub.GetProcessInstance, instances.GetProcessInstanceRequest(process_instance_key=key)
    )
    instance = found.process_instance
    counts = await session.call(
        stub.GetProcessInstanceStatistics,
        instances.GetProcessInstanceStatisticsRequest(process_instance_key=key),
    )
    flows = await session.call(
        stub.GetProcessInstanceSequenceFlows,
        instances.GetProcessInstanceSequenceFlowsRequest(process_instance_key=key),
    )
    return _Source(
        await _xml(session, instance.process_definition_key),
        instance.process_definition_id,
        _tokens(counts.items),
        frozenset(flow.element_id for flow in flows.items),
    )


async def _of_definition(session: Session, key: int) -> _Source:
    stub = ProcessDefinitionServiceStub(session.channel)
    found = await session.call(
        stub.GetProcessDefinition, definitions.GetProcessDefinitionRequest(process_definition_key=key)
    )
    counts = await session.call(
        stub.GetProcessDefinitionStatistics,
        definitions.GetProcessDefinitionStatisticsRequest(process_definition_key=key),
    )
    process_id = found.process_definition.process_definition_id
    return _Source(await _xml(session, key), process_id, _tokens(counts.items))


async def _xml(session: Session, key: int) -> bytes:
    stub = ProcessDefinitionServiceStub(session.channel)
    found = await session.call(
        stub.GetProcessDefinitionXml, definitions.GetProcessDefinitionXmlRequest(process_definition_key=key)
    )
    return found.xml.encode()


def _tokens(items: Iterable[ProcessElementStatistics]) -> dict[str, Tokens]:
    return {each.element_id: Tokens(each.active, each.incidents, each.completed) for each in items}
