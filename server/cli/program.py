"""A program as job handler: variables on standard input, job facts in the environment, the result on standard output."""

import asyncio
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

import msgspec

from gnomon.engine.v1 import job_pb2
from server.cli.worker import Completed, Failed, Outcome

# The end of a failed program's standard error, which an incident shows.
MOST_MESSAGE_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class Program:
    """A program as job handler: `arguments` are run without a shell, each job for at most `timeout`."""

    arguments: tuple[str, ...]
    timeout: timedelta

    async def __call__(self, job: job_pb2.ActivatedJob) -> Outcome:
        # Its own session, so that Ctrl-C stops the worker but not the running job.
        process = await asyncio.create_subprocess_exec(
            *self.arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, **facts(job)},
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(self.timeout.total_seconds()):
                output, errors = await process.communicate(job.variables)
        except TimeoutError:
            return Failed(f"{self.arguments[0]} took longer than {self.timeout.total_seconds():g} s")
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        return outcome_of(process.returncode or 0, output, errors)


def facts(job: job_pb2.ActivatedJob) -> Mapping[str, str]:
    return {
        "GNOMON_JOB_KEY": str(job.job_key),
        "GNOMON_JOB_TYPE": job.type,
        "GNOMON_JOB_RETRIES": str(job.retries),
        "GNOMON_JOB_DEADLINE": str(job.deadline),
        "GNOMON_JOB_HEADERS": msgspec.json.encode(dict(job.custom_headers)).decode(),
        "GNOMON_JOB_ELEMENT_ID": job.element_id,
        "GNOMON_JOB_ELEMENT_INSTANCE_KEY": str(job.element_instance_key),
        "GNOMON_JOB_PROCESS_DEFINITION_ID": job.process_definition_id,
        "GNOMON_JOB_PROCESS_INSTANCE_KEY": str(job.process_instance_key),
        "GNOMON_JOB_TENANT_ID": job.tenant_id,
        "GNOMON_JOB_WORKER": job.worker,
    }


def outcome_of(exit_code: int, output: bytes, errors: bytes) -> Outcome:
    """Complete the job on exit code 0 with a JSON object or nothing on standard output; fail it otherwise."""
    if exit_code:
        said = errors.decode(errors="replace").strip()[-MOST_MESSAGE_CHARACTERS:]
        return Failed(said or f"exit code {exit_code}")
    variables = output.strip() or b"{}"
    try:
        msgspec.json.decode(variables, type=dict[str, msgspec.Raw])
    except msgspec.DecodeError as error:
        return Failed(f"expected a JSON object on standard output: {error}")
    return Completed(variables)
