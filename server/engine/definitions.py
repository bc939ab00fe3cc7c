"""From the content of a resource to what it holds, compiled once however often it is asked for."""

from dataclasses import dataclass, field
from functools import lru_cache

from server import dmn
from server.bpmn.compile import compile_process
from server.bpmn.executable import ExecutableProcess
from server.bpmn.reader import read
from server.dmn.model import Definitions
from server.dmn.reader import read as read_decisions
from server.feel import DialectName

CACHED_PROCESSES = 1024
CACHED_DECISIONS = 256


@lru_cache(CACHED_PROCESSES)
def executable_process(content: bytes, process_id: str) -> ExecutableProcess:
    """The process with that id; the content was linted when it was deployed."""
    definitions = read(content)
    process = next(process for process in definitions.processes if process.id == process_id)
    return compile_process(process)


@dataclass(frozen=True, slots=True)
class DecisionFile:
    """Known by its content alone; `definitions` are what somebody read from it already."""

    content: bytes = field(repr=False)
    definitions: Definitions | None = field(default=None, compare=False, repr=False)

    def read(self) -> Definitions:
        """Raises DmnReadError."""
        return read_decisions(self.content) if self.definitions is None else self.definitions


@lru_cache(CACHED_DECISIONS)
def compiled_decisions(
    file: DecisionFile, imports: tuple[DecisionFile, ...], dialect: DialectName
) -> dmn.Decisions:
    """The decisions of a model; raises DmnError for one that nobody looked at before it was deployed."""
    return dmn.decisions_of(file.read(), imports=[each.read() for each in imports], dialect=dialect)
