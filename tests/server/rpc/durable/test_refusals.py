"""Refused changes of identity, and requests that an edge refused: what they leave in the audit log."""

from datetime import timedelta
from typing import Any

import pytest

from gnomon.engine.v1 import job_service_pb2
from gnomon.engine.v1 import refusal_service_pb2 as pb
from gnomon.identity.v1 import membership_service_pb2
from server.platform.call import Call, Principal, TenantId
from server.platform.clock import VirtualClock
from server.platform.errors import (
    InvalidArgument,
    ModeNotSupported,
    NotFound,
    PermissionDenied,
    Unauthenticated,
    Unavailable,
)
from server.platform.policy import Mode
from server.rpc.refusal_reports import BURST, PER_SECOND, RefusalServicer
from server.rpc.refusals import Refusals
from server.store.entities import AuditEntry, AuditResult
from tests.server.rpc.caller import POLICIES
from tests.server.rpc.conftest import authenticate
from tests.server.rpc.durable.deployment import MIDNIGHT

HOME = TenantId("default")
ALICE = Principal("alice", frozenset({HOME}), frozenset(), is_person=True)


class Reporting:
    """Takes what edges report; `entries` are those that wait for a partition."""

    def __init__(self, *, keeps_identity: bool = True) -> None:
        self.seconds = 0.0
        self.entries: list[AuditEntry] = []
        self.refused = Refusals(self, VirtualClock(pinned=MIDNIGHT), lambda: keeps_identity)
        self._servicer = RefusalServicer(authenticate, Mode.BUNDLED, self.refused, lambda: self.seconds)

    def note(self, entry: AuditEntry) -> None:
        self.entries.append(entry)

    async def report(self, who: str, rpc: str = "FailJob", **fields: Any) -> None:
        path = POLICIES[rpc].path if rpc in POLICIES else rpc
        request = pb.ReportRefusalRequest(
            **{"rpc": path, "reason": "INVALID_ARGUMENT", "detail": "no", **fields}
        )
        metadata = {"authorization": f"Bearer {who}", "x-request-id": "r-1"}
        await self._servicer.report_refusal(request, Call(POLICIES["ReportRefusal"], request, metadata))


def assignment(role: str = "clerk", group: str = "staff") -> Call:
    request = membership_service_pb2.AssignRoleToGroupRequest(role_id=role, group_id=group)
    call = Call(POLICIES["AssignRoleToGroup"], request, {}, principal=ALICE)
    call.request_id = "r-1"
    return call


async def test_a_refused_change_of_identity_says_who_wanted_what_and_why_not() -> None:
    reporting = Reporting()

    reporting.refused(assignment(), NotFound("there is no such group"))

    assert reporting.entries == [
        AuditEntry(
            tenant_id="default",
            timestamp=MIDNIGHT,
            operation_type="ASSIGN",
            result=AuditResult.FAIL,
            actor_type="USER",
            actor_id="alice",
            entity_type="ROLE",
            entity_id="clerk",
            related_entity_type="GROUP",
            related_entity_id="staff",
            request_id="r-1",
            reason="NOT_FOUND",
            detail="there is no such group",
        )
    ]


async def test_an_id_that_no_entity_has_is_left_out() -> None:
    reporting = Reporting()

    reporting.refused(assignment(role="r" * 257, group=""), InvalidArgument("too long"))

    (entry,) = reporting.entries
    assert (entry.entity_id, entry.related_entity_id) == (None, None)


async def test_a_change_of_unknown_outcome_is_no_refusal() -> None:
    reporting = Reporting()

    reporting.refused(assignment(), Unavailable("the database does not answer"))

    assert reporting.entries == []


async def test_while_older_nodes_read_the_log_refused_changes_of_identity_are_left_out() -> None:
    reporting = Reporting(keeps_identity=False)

    reporting.refused(assignment(), NotFound("there is no such group"))
    await reporting.report("worker")

    assert [entry.entity_type for entry in reporting.entries] == ["JOB"]


async def test_a_report_becomes_an_entry_of_the_caller() -> None:
    reporting = Reporting()
    named = job_service_pb2.FailJobRequest(job_key=7).SerializeToString()

    await reporting.report("worker", request=named, detail="retries: expected an integer")

    (entry,) = reporting.entries
    assert (entry.entity_type, entry.operation_type, entry.entity_key) == ("JOB", "FAIL", 7)
    assert (entry.actor_id, entry.tenant_id, entry.request_id) == ("worker", "default", "r-1")
    assert (entry.result, entry.reason) == (AuditResult.FAIL, "INVALID_ARGUMENT")
    assert entry.detail == "retries: expected an integer"


async def test_a_caller_that_nobody_knows_leaves_nothing() -> None:
    reporting = Reporting()

    with pytest.raises(Unauthenticated):
        await reporting.report("nobody")

    assert reporting.entries == []


async def test_a_caller_without_the_permission_is_refused_for_that_and_the_entry_says_so() -> None:
    reporting = Reporting()

    with pytest.raises(PermissionDenied, match="needs permission 'job:work'"):
        await reporting.report("reader", detail="retries: expected an integer")

    (entry,) = reporting.entries
    assert (entry.actor_id, entry.reason) == ("reader", "PERMISSION_DENIED")
    assert entry.detail == "POST /v2/jobs/{jobKey}/failure needs permission 'job:work'"


async def test_a_mode_that_does_not_offer_the_operation_refuses_for_that() -> None:
    reporting = Reporting()

    with pytest.raises(ModeNotSupported):
        await reporting.report("worker", rpc="PinClock")


async def test_a_read_is_checked_and_leaves_no_entry() -> None:
    reporting = Reporting()

    await reporting.report("reader", rpc="SearchVariables")
    with pytest.raises(PermissionDenied):
        await reporting.report("modeller", rpc="SearchVariables")

    assert reporting.entries == []


async def test_a_caller_of_several_tenants_that_named_none_leaves_nothing() -> None:
    reporting = Reporting()

    await reporting.report("traveller")

    assert reporting.entries == []


@pytest.mark.parametrize(
    "fields",
    [{"rpc": "/no.Such/Rpc"}, {"reason": "NO_REASON"}, {"request": b"\xff"}],
    ids=str,
)
async def test_reports_of_anything_else_are_refused(fields: dict[str, Any]) -> None:
    reporting = Reporting()

    with pytest.raises(InvalidArgument):
        await reporting.report("worker", **fields)

    assert reporting.entries == []


async def test_a_flood_of_one_tenant_leaves_few_entries_and_takes_none_from_others() -> None:
    reporting = Reporting()

    for _ in range(BURST + 50):
        await reporting.report("worker")
    await reporting.report("stranger")
    reporting.seconds += 1
    for _ in range(50):
        await reporting.report("worker")

    tenants = [entry.tenant_id for entry in reporting.entries]
    assert tenants == [*["default"] * BURST, "other", *["default"] * PER_SECOND]


async def test_the_log_tells_once_that_entries_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    reporting = Reporting()

    for _ in range(2):
        for _ in range(BURST + 50):
            await reporting.report("worker")
        reporting.seconds += timedelta(hours=1).total_seconds()

    told = [record for record in caplog.records if "left out" in record.message]
    assert len(told) == 2
