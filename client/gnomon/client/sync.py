"""Synchronous client: `Client` on an event loop in a thread of its own."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from types import TracebackType
from typing import Self, TypeVar

import grpc

from gnomon.client.client import Client
from gnomon.client.credentials import ClientCredentials
from gnomon.client.errors import RequestFailed
from gnomon.client.jobs import Job, Variables

Result = TypeVar("Result")


class SyncClient:
    """Client for threads, used as `with SyncClient(...) as client`; any thread may call it.

    Parameters, limits and errors are those of `Client`.
    """

    def __init__(
        self,
        address: str,
        credentials: ClientCredentials | str,
        *,
        tenant_id: str = "",
        tls: grpc.ChannelCredentials | None = None,
        timeout: timedelta = timedelta(seconds=30),
    ) -> None:
        self._open: Callable[[], Client] = partial(
            Client, address, credentials, tenant_id=tenant_id, tls=tls, timeout=timeout
        )
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="gnomon.client", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        # gRPC binds a channel to the loop that runs while it is made.
        self._client = self._run(self._made())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self._run(self._client.channel.close())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def start_process_instance(
        self,
        process_definition_id: str,
        variables: Variables | None = None,
        *,
        version: int | None = None,
        business_id: str | None = None,
        tags: Sequence[str] = (),
        idempotency_key: str | None = None,
    ) -> int:
        """As `Client.start_process_instance`."""
        return self._run(
            self._client.start_process_instance(
                process_definition_id,
                variables,
                version=version,
                business_id=business_id,
                tags=tags,
                idempotency_key=idempotency_key,
            )
        )

    def start_process_instances(
        self,
        process_definition_id: str,
        variables: Sequence[Variables | None],
        *,
        version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Sequence[int | RequestFailed]:
        """As `Client.start_process_instances`."""
        return self._run(
            self._client.start_process_instances(
                process_definition_id, variables, version=version, idempotency_key=idempotency_key
            )
        )

    def complete_job(self, job_key: int, variables: Variables | None = None) -> None:
        """As `Client.complete_job`."""
        self._run(self._client.complete_job(job_key, variables))

    def fail_job(
        self, job_key: int, *, retries: int, message: str = "", back_off: timedelta = timedelta()
    ) -> None:
        """As `Client.fail_job`."""
        self._run(self._client.fail_job(job_key, retries=retries, message=message, back_off=back_off))

    def publish_message(
        self,
        name: str,
        correlation_key: str,
        variables: Variables | None = None,
        *,
        time_to_live: timedelta = timedelta(),
        message_id: str = "",
        idempotency_key: str | None = None,
    ) -> int:
        """As `Client.publish_message`."""
        return self._run(
            self._client.publish_message(
                name,
                correlation_key,
                variables,
                time_to_live=time_to_live,
                message_id=message_id,
                idempotency_key=idempotency_key,
            )
        )

    @contextmanager
    def worker(
        self,
        job_type: str,
        handler: Callable[[Job], Variables | None],
        *,
        name: str = "gnomon.client",
        max_jobs: int = 8,
        job_timeout: timedelta = timedelta(minutes=5),
        retry_back_off: timedelta = timedelta(seconds=1),
    ) -> Iterator[None]:
        """Work on jobs of a type in `max_jobs` threads until the block ends.

        A thread cannot be cancelled, so the end of the block waits for running handlers, up to `job_timeout`. A refused
        activation is raised at the end of the block.
        """
        threads = ThreadPoolExecutor(max_jobs, thread_name_prefix=f"gnomon.client.{name}")

        async def handle(job: Job) -> Variables | None:
            return await asyncio.get_running_loop().run_in_executor(threads, handler, job)

        worker = self._client.worker(
            job_type,
            handle,
            name=name,
            max_jobs=max_jobs,
            job_timeout=job_timeout,
            retry_back_off=retry_back_off,
            end_timeout=job_timeout,
        )
        stop = asyncio.Event()

        async def work() -> None:
            async with worker:
                await stop.wait()

        working = asyncio.run_coroutine_threadsafe(work(), self._loop)
        try:
            yield
        finally:
            self._loop.call_soon_threadsafe(stop.set)
            try:
                working.result()
            finally:
                threads.shutdown(wait=False)

    async def _made(self) -> Client:
        return self._open()

    def _run(self, call: Coroutine[object, object, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(call, self._loop).result()
