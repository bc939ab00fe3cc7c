"""feelin in a node process that answers JSON lines."""

import json
import selectors
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from server.feel import Value
from server.feel.json_text import read

FOLDER = Path(__file__).parents[2] / ".venv/feelin/node_modules/feelin"
ABSENT = "feelin is not here: `make .venv/.feelin` installs it where there is node"
_ASKED = Path(__file__).with_name("asked.mjs")
_ANSWER_SECONDS = 60
_END_SECONDS = 5


def is_here() -> bool:
    return FOLDER.is_dir() and shutil.which("node") is not None


class Feelin:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def evaluate(self, pairs: Sequence[tuple[str, Value]]) -> list[dict[str, Value]]:
        """`{"value": …}`, or `{"error": message}`, for each text and its context."""
        answers: list[dict[str, Value]] = read(self._answer({"evaluate": pairs}))  # type: ignore[assignment]  # what asked.mjs says
        return answers

    def nanoseconds(
        self, texts: Sequence[str], context: Mapping[str, Value], *, seconds: float
    ) -> list[float]:
        """Evaluate each text that long, warm; the best mean of some rounds."""
        asked = {"measure": texts, "context": context, "seconds": seconds}
        return [*map(float, json.loads(self._answer(asked, seconds=4 * seconds * len(texts))))]

    def _answer(self, asked: Mapping[str, object], *, seconds: float = 0) -> str:
        _pipe(self._process.stdin).write(json.dumps(asked) + "\n")
        _pipe(self._process.stdin).flush()
        output = _pipe(self._process.stdout)
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            if not selector.select(_ANSWER_SECONDS + seconds):
                raise TimeoutError("feelin does not answer")
        line = output.readline()
        if not line:
            raise EOFError("feelin has ended")
        return line


@contextmanager
def feelin() -> Iterator[Feelin]:
    command = [shutil.which("node") or "node", str(_ASKED), str(FOLDER)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        try:
            yield Feelin(process)
        finally:
            _pipe(process.stdin).close()
            try:
                process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe
