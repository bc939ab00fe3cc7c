"""From a gRPC path to a servicer's method, through the interceptors: the same for every channel.

A servicer is any object with one coroutine method per RPC, in snake case:
`async def fail_job(self, request: FailJobRequest, call: Call) -> FailJobResponse`.
"""

import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import Message

from server.platform.call import ANONYMOUS, Call, Principal
from server.platform.errors import Internal, ServiceError
from server.platform.policy import Policy, policies_of

logger = logging.getLogger(__name__)

Servicer = Callable[[Message, Call], Awaitable[Message]]
# Told of each command of a known caller that was refused before a partition had it.
Refused = Callable[[Call, ServiceError], None]


class Interceptor(Protocol):
    """Refuses a call by raising, or adds to it; returns an awaitable only when it has to wait."""

    def __call__(self, call: Call, /) -> Awaitable[None] | None: ...


@dataclass(frozen=True, slots=True)
class Operation:
    """One RPC with the method that serves it; None when the mode that runs does not serve it."""

    policy: Policy
    serve: Servicer | None


def unnoticed(_: Call, __: ServiceError) -> None:
    pass


class Dispatcher:
    """All RPCs of a process."""

    def __init__(
        self,
        servicers: Mapping[ServiceDescriptor, object | None],
        interceptors: Sequence[Interceptor],
        *,
        refused: Refused = unnoticed,
    ) -> None:
        self.operations: Mapping[str, Operation] = {
            path: Operation(policy, _serve(policy, servicer))
            for service, servicer in servicers.items()
            for path, policy in policies_of(service).items()
        }
        self.services = tuple(servicers)
        self._interceptors = tuple(interceptors)
        self._refused = refused

    async def dispatch(
        self,
        path: str,
        request: Message,
        metadata: Mapping[str, str],
        *,
        time_remaining: float | None = None,
        principal: Principal = ANONYMOUS,
    ) -> Message:
        """Serve one call; raises ServiceError and nothing else."""
        operation = self.operations[path]
        call = Call(operation.policy, request, metadata, time_remaining, principal)
        try:
            for intercept in self._interceptors:
                waiting = intercept(call)
                if waiting is not None:
                    await waiting
            if operation.serve is None:
                raise LookupError(f"no servicer serves {path}")  # noqa: TRY301  # a fault of the wiring
            return await operation.serve(request, call)
        except ServiceError as refusal:
            if call.policy.is_command and call.principal is not ANONYMOUS and not call.is_submitted:
                self._refused(call, refusal)
            raise
        except Exception as error:
            logger.exception("call failed", extra={"rpc": path, "request_id": call.request_id})
            raise Internal from error


def _serve(policy: Policy, servicer: object | None) -> Servicer | None:
    return getattr(servicer, snake_case(policy.name), None)


def snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
