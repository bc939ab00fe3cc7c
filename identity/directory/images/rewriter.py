"""Re-encodes images in separate processes, with as many at a time as the pool has threads.

The output is not trusted either: it must be short and begin like a WebP.
"""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Timer
from typing import IO

from identity.directory.images import rewrite_program
from identity.directory.images.config import PicturesConfig
from identity.directory.images.rewrite_program import Shape, Status
from server.platform.errors import InvalidArgument, Unavailable
from server.platform.threads import Threads

MEDIA_TYPE = "image/webp"
MOST_BYTES = 393_216
"""Maximum of a re-encoded image."""

# Each waiting call holds an upload in memory.
_MOST_WAITING = 32

# Factor of wall time over processor time, for machines with shared processors.
_PATIENCE = 8

_PROGRAM = Path(rewrite_program.__file__)
_EXPECTED = "expected a JPEG, PNG or WebP"


@dataclass(frozen=True, slots=True)
class _Exit:
    """How a process ended; a negative status is the signal that killed it."""

    written: bytes
    status: int
    is_overdue: bool


class Rewriter:
    def __init__(
        self, config: PicturesConfig, *, most_waiting: int = _MOST_WAITING, patience: int = _PATIENCE
    ) -> None:
        self._config = config
        self._longest = patience * config.decode_secs
        self._threads = Threads("images", config.workers, most_waiting=most_waiting)

    async def rewrite(self, content: bytes, shape: Shape) -> bytes:
        """Return the image in this shape, as WebP.

        Raises InvalidArgument for an unsupported image, ResourceExhausted when too many calls wait, Unavailable when
        there is no processor time or memory for it.
        """
        termination = await self._threads.run(self._run, content, shape)
        if termination.is_overdue:
            raise Unavailable.untouched("images are decoded too slowly now")
        if termination.status == Status.WRITTEN and _is_written(termination.written):
            return termination.written
        raise self._refusal(termination.status)

    def close(self) -> None:
        self._threads.close()

    def _refusal(self, status: int) -> InvalidArgument:
        config = self._config
        if status == Status.NO_IMAGE:
            return InvalidArgument(_EXPECTED)
        if status == Status.ANIMATED:
            return InvalidArgument(f"{_EXPECTED} of one picture, found an animation")
        if status == Status.TOO_MANY_PIXELS:
            return InvalidArgument(f"{_EXPECTED} of at most {config.max_megapixels} megapixels")
        if status < 0:
            return InvalidArgument(f"{_EXPECTED} that decodes within {config.decode_secs} seconds")
        raise RuntimeError(f"the program that encodes images again ended with {status}")

    def _run(self, content: bytes, shape: Shape) -> _Exit:
        try:
            # Isolated from the environment, which may hold secrets, and from the working directory.
            process = subprocess.Popen(  # noqa: S603  # a program of ours, and numbers
                [sys.executable, "-I", str(_PROGRAM), *self._arguments(shape)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={},
            )
        except OSError as error:
            raise Unavailable.untouched("no program can be started now") from error
        with process, _killed_after(self._longest, process) as overdue:
            written = _exchanged(process, content)
        return _Exit(written, process.returncode, overdue.is_set())

    def _arguments(self, shape: Shape) -> Iterator[str]:
        yield from (str(shape.width), str(shape.height), shape.fit.value)
        yield from (str(self._config.max_pixels), str(self._config.decode_secs))


def _exchanged(process: "subprocess.Popen[bytes]", content: bytes) -> bytes:
    """Return the output up to its bound; the process reads its whole input before it writes."""
    source, written = _open(process.stdin), _open(process.stdout)
    # A process that has ended reads no more.
    with contextlib.suppress(BrokenPipeError), source:
        source.write(content)
    with written:
        return written.read(MOST_BYTES + 1)


def _open(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise RuntimeError("the program has no pipe")
    return pipe


@contextlib.contextmanager
def _killed_after(seconds: float, process: "subprocess.Popen[bytes]") -> Iterator[Event]:
    """Kill the process after this time; the event is set if that happened."""
    overdue = Event()

    def kill() -> None:
        overdue.set()
        process.kill()

    timer = Timer(seconds, kill)
    timer.start()
    try:
        yield overdue
    finally:
        process.wait()
        timer.cancel()


def _is_written(content: bytes) -> bool:
    return len(content) <= MOST_BYTES and content[:4] == b"RIFF" and content[8:12] == b"WEBP"
