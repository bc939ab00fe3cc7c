"""From the content of a resource to the process that it holds, compiled once however often it is asked for."""

from functools import lru_cache

from server.bpmn.compile import compile_process
from server.bpmn.executable import ExecutableProcess
from server.bpmn.reader import read

CACHED_PROCESSES = 1024


@lru_cache(CACHED_PROCESSES)
def executable_process(content: bytes, process_id: str) -> ExecutableProcess:
    """The process with that id; the content was linted when it was deployed."""
    definitions = read(content)
    process = next(process for process in definitions.processes if process.id == process_id)
    return compile_process(process)
