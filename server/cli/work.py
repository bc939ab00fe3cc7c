"""`gnomon jobs work`: complete jobs of one type with a program."""

import asyncio
import shlex
import shutil
import signal
from collections import Counter
from datetime import timedelta
from typing import Annotated

import orjson
import typer
from rich.text import Text

from gnomon.engine.v1 import job_pb2
from server.cli.client_command import client_command
from server.cli.failures import REFUSED, give_up
from server.cli.output import Output
from server.cli.program import Program
from server.cli.session import Session
from server.cli.worker import Completed, Reported, Worker, WorkerOptions

_STYLES = {"completed": "green", "failed": "red", "withdrawn": "yellow"}


@client_command
async def work(
    session: Session,
    output: Output,
    job_type: Annotated[str, typer.Argument(metavar="TYPE", help="Job type.")],
    *,
    command: Annotated[
        str,
        typer.Option(
            "--exec",
            help="Program with its arguments, run without a shell: the job's variables on standard input, its "
            "facts in GNOMON_JOB_…; exit code 0 completes the job with the JSON object on standard output.",
        ),
    ],
    most: Annotated[int | None, typer.Option("--max", min=1, help="End after this number of jobs.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of jobs at a time.")] = 8,
    job_seconds: Annotated[int, typer.Option("--timeout", min=1, help="Maximum seconds for a job.")] = 300,
) -> None:
    job_timeout = timedelta(seconds=job_seconds)
    options = WorkerOptions(job_type=job_type, concurrency=concurrency, most=most, timeout=job_timeout)
    log = _Log(output)
    worker = Worker(session, options, Program(_arguments(command), job_timeout), log.note)
    _stop_at_signals(worker)
    with output.waiting(f"Working on jobs of type {job_type}; Ctrl-C ends"):
        await worker.run()
    log.sum_up()
    if log.has_only_failures:
        raise typer.Exit(REFUSED)


def _arguments(command: str) -> tuple[str, ...]:
    try:
        arguments = shlex.split(command)
    except ValueError as error:
        give_up(f"cannot read --exec: {error}")
    if not arguments or shutil.which(arguments[0]) is None:
        give_up(f"there is no program {arguments[0] if arguments else command!r}")
    return tuple(arguments)


def _stop_at_signals(worker: Worker) -> None:
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)

    def stop() -> None:
        worker.stop()
        for number in signals:
            loop.remove_signal_handler(number)

    for number in signals:
        loop.add_signal_handler(number, stop)


class _Log:
    """Prints one line per job."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._counts: Counter[str] = Counter()

    @property
    def has_only_failures(self) -> bool:
        """Whether there were jobs and none was completed."""
        return bool(self._counts) and not self._counts["completed"]

    def note(self, job: job_pb2.ActivatedJob, reported: Reported) -> None:
        outcome = type(reported).__name__.lower()
        message = "" if isinstance(reported, Completed) else reported.message
        self._counts[outcome] += 1
        if self._output.is_json:
            self._output.document(_document(job, outcome, message))
        else:
            said = f"  {message.splitlines()[-1]}" if message else ""
            line = f"{outcome:<9}  {job.job_key}  {job.process_definition_id}/{job.element_id}{said}"
            self._output.print(Text(line, style=_STYLES[outcome]))

    def sum_up(self) -> None:
        if not self._output.is_json:
            counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(self._counts.items()))
            self._output.print(counts or "no jobs")


def _document(job: job_pb2.ActivatedJob, outcome: str, message: str) -> bytes:
    facts = {
        "jobKey": str(job.job_key),
        "processInstanceKey": str(job.process_instance_key),
        "type": job.type,
    }
    return orjson.dumps({**facts, "outcome": outcome, "message": message or None})
