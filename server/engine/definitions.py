"""From the content of a resource to what it holds, compiled once however often it is asked for."""

from functools import lru_cache

from server import dmn
from server.bpmn.compile import compile_process
from server.bpmn.executable import ExecutableProcess
from server.bpmn.reader import read
from server.feel import DialectName

CACHED_PROCESSES = 1024
CACHED_DECISIONS = 256


@lru_cache(CACHED_PROCESSES)
def executable_process(content: bytes, process_id: str) -> ExecutableProcess:
    """The process with that id; the content was linted when it was deployed."""
    definitions = read(content)
    process = next(process for process in definitions.processes if process.id == process_id)
    return compile_process(process)


@lru_cache(CACHED_DECISIONS)
def compiled_decisions(content: bytes, imports: tuple[bytes, ...], dialect: DialectName) -> dmn.Decisions:
    """The decisions of a model; raises DmnError for one that nobody looked at before it was deployed."""
    return dmn.compile_definitions(content, imports=imports, dialect=dialect)
