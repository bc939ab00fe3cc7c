"""A partition of another process, by what that process answers."""

import msgspec
import pytest

from gnomon.partition.v1 import partition_service_pb2 as pb
from server.engine.formats import WIRE_FORMAT
from server.engine.keys import Key
from server.engine.user_task_commands import CompleteUserTask
from server.partition.origin import Origin
from server.partition.remote import CALL_SECONDS, LONG_CALL_SECONDS, RemotePartition
from server.partition.wire import ANSWERS
from server.platform.call import Call
from server.platform.channels import LocalChannel
from server.platform.dispatch import Dispatcher
from server.platform.errors import Unavailable
from server.store.ports import PartitionId
from tests.server.partition.harness import creation

ORIGIN = Origin("default", "worker", "r-1")
_SERVICE = pb.DESCRIPTOR.services_by_name["PartitionService"]


class Owner:
    """Answers every command with these bytes, and keeps the requests."""

    def __init__(self, answer: bytes, number: int) -> None:
        self._response = pb.ExecuteResponse(answer=answer, format=number)
        self.requests: list[pb.ExecuteRequest] = []
        self.seconds: list[float] = []

    async def execute(self, request: pb.ExecuteRequest, call: Call) -> pb.ExecuteResponse:
        self.requests.append(request)
        self.seconds.append(call.time_remaining or 0)
        return self._response


def remote(owner: Owner, *, number: int = WIRE_FORMAT) -> RemotePartition:
    channel = LocalChannel(Dispatcher({_SERVICE: owner}, ()))
    return RemotePartition(PartitionId(1), channel, "secret", written_format=lambda: number)


@pytest.mark.parametrize(
    ("answer", "number"),
    [
        pytest.param(msgspec.msgpack.encode(("Teleported", {})), WIRE_FORMAT, id="unknown answer"),
        pytest.param(msgspec.msgpack.encode(("Done", {})), WIRE_FORMAT + 1, id="later format"),
    ],
)
async def test_an_answer_of_a_later_version_leaves_the_outcome_open(answer: bytes, number: int) -> None:
    with pytest.raises(Unavailable, match="the answer of a later version cannot be read") as refusal:
        await remote(Owner(answer, number)).submit(creation(), ORIGIN)

    assert not refusal.value.is_untouched


async def test_a_call_carries_the_format_that_all_nodes_read() -> None:
    owner = Owner(msgspec.msgpack.encode(("Done", {})), 0)

    answer = await remote(owner, number=1).submit(creation(), ORIGIN)

    assert ANSWERS.pack(answer) == msgspec.msgpack.encode(("Done", {}))
    assert [request.format for request in owner.requests] == [1]


async def test_the_owner_says_how_long_listeners_of_user_tasks_are_waited_for() -> None:
    owner = Owner(msgspec.msgpack.encode(("Done", {})), WIRE_FORMAT)

    await remote(owner).submit(CompleteUserTask("default", Key(1)), ORIGIN)
    await remote(owner).submit(creation(), ORIGIN)

    long, short = owner.seconds
    assert short <= CALL_SECONDS < LONG_CALL_SECONDS / 2 < long
