"""Deployed definitions, with a cache of compiled files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

import msgspec

from server import dmn
from server.bpmn.compile import compile_process
from server.bpmn.executable import Element, ExecutableProcess
from server.bpmn.reader import read
from server.dmn.model import Definitions
from server.dmn.reader import read as read_decisions
from server.engine.keys import Key
from server.engine.start_triggers import AnyStartTrigger, MessageStart
from server.feel import DialectName

CACHED_FILES = 1024
CACHED_DECISIONS = 256


def executable_process(content: bytes, process_id: str) -> ExecutableProcess:
    """The process with this id; the content was linted at deployment."""
    return executable_processes(content)[process_id]


@lru_cache(CACHED_FILES)
def executable_processes(content: bytes) -> Mapping[str, ExecutableProcess]:
    """The executable processes of a file by their ids; the file is read once for all of them."""
    definitions = read(content)
    return {
        process.id: compile_process(definitions, process)
        for process in definitions.processes
        if process.is_executable
    }


class Definition(msgspec.Struct, frozen=True):
    """A deployed version of a process. It is compiled on first use, because most versions are never used."""

    key: Key
    tenant_id: str
    process_definition_id: str
    version: int
    resource_name: str
    checksum: str
    content: bytes
    deployment_key: Key
    starts: tuple[AnyStartTrigger, ...] = ()
    version_tag: str | None = None
    is_deleted: bool = False

    @property
    def process(self) -> ExecutableProcess:
        return executable_process(self.content, self.process_definition_id)

    def element(self, element_id: str) -> Element:
        """The element with this id; for a multi-instance activity, its body."""
        return self.process.elements[element_id]


class _WithStarts(Protocol):
    """A definition, or the event of its deployment."""

    @property
    def key(self) -> Key: ...
    @property
    def starts(self) -> tuple[AnyStartTrigger, ...]: ...


def message_starts_of(definition: _WithStarts) -> Mapping[Key, MessageStart]:
    """Message start events by the keys of their subscriptions, which follow the key of the definition in order."""
    return {
        Key(definition.key + place): start
        for place, start in enumerate(definition.starts, start=1)
        if isinstance(start, MessageStart)
    }


@dataclass(frozen=True, slots=True)
class DecisionFile:
    """A DMN file, identified by its content; `definitions` are the parsed content, if a caller has it already."""

    content: bytes = field(repr=False)
    definitions: Definitions | None = field(default=None, compare=False, repr=False)

    def read(self) -> Definitions:
        """Raises DmnReadError."""
        return read_decisions(self.content) if self.definitions is None else self.definitions


@lru_cache(CACHED_DECISIONS)
def compiled_decisions(
    file: DecisionFile, imports: tuple[DecisionFile, ...], dialect: DialectName
) -> dmn.Decisions:
    """The decisions of a model; raises DmnError for a model that was deployed without validation."""
    return dmn.decisions_of(file.read(), imports=[each.read() for each in imports], dialect=dialect)
