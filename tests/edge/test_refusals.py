"""Requests that the edge refuses to read are reported to the service, which may refuse the caller first."""

from io import BytesIO

import orjson
import pytest
from multidict import CIMultiDict

from edge.config import EdgeConfig
from gnomon.engine.v1 import job_service_pb2
from gnomon.engine.v1 import refusal_service_pb2 as pb
from gnomon.identity.v1 import mapping_rule_service_pb2
from server.platform.errors import (
    InvalidArgument,
    ModeNotSupported,
    PermissionDenied,
    ServiceError,
    TenantMismatch,
    Unauthenticated,
    Unavailable,
)
from tests.edge.harness import Edge

KNOWN = {"Authorization": "Bearer worker", "x-tenant-id": "acme", "X-Request-Id": "r-1"}
FAIL_JOB = "/gnomon.engine.v1.JobService/FailJob"


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ("{", "request: expected valid JSON in UTF-8, found "),
        ('{"colour":1}', "colour: unknown property"),
        ('{"retries":"x"}', "retries: "),
        ("[" * 100_000, ""),
        (b"\xff\xfe", ""),
        ('{"\ud800":1}'.encode("utf-8", "surrogatepass"), ""),
    ],
    ids=["malformed", "unknown member", "wrong type", "deep", "no text", "lone surrogate"],
)
async def test_a_malformed_command_is_reported_with_its_caller(
    edge: Edge, body: str | bytes, detail: str
) -> None:
    reply = await edge.post_json("/v2/jobs/42/failure", body, **KNOWN)

    assert reply.status == 400
    (report,) = edge.servicers.requests
    assert isinstance(report, pb.ReportRefusalRequest)
    assert (report.rpc, report.reason) == (FAIL_JOB, "INVALID_ARGUMENT")
    assert report.request == job_service_pb2.FailJobRequest(job_key=42).SerializeToString()
    assert report.detail.startswith(detail)
    assert len(report.detail) <= 2_000
    metadata = edge.servicers.calls[0].metadata
    assert metadata["authorization"] == "Bearer worker"
    assert (metadata["x-tenant-id"], metadata["x-request-id"]) == ("acme", "r-1")


async def test_a_change_of_identity_is_reported_by_the_id_in_its_path(edge: Edge) -> None:
    reply = await edge.send("PUT", "/v2/mapping-rules/rule", data="{", headers=KNOWN)

    assert reply.status == 400
    (report,) = edge.servicers.requests
    assert isinstance(report, pb.ReportRefusalRequest)
    named = mapping_rule_service_pb2.UpdateMappingRuleRequest.FromString(report.request)
    assert named.mapping_rule_id == "rule"


async def test_a_key_that_is_none_is_left_out(edge: Edge) -> None:
    await edge.post_json("/v2/jobs/0042/failure", "{}", **KNOWN)

    (report,) = edge.servicers.requests
    assert isinstance(report, pb.ReportRefusalRequest)
    assert (report.request, report.rpc) == (b"", FAIL_JOB)


async def test_a_body_that_is_too_large_is_reported(edge: Edge) -> None:
    body = BytesIO(b" " * (EdgeConfig().max_body_bytes + 1))

    reply = await edge.send("POST", "/v2/jobs/42/failure", data=body, headers=KNOWN)

    assert reply.status == 413
    assert [getattr(report, "reason", "") for report in edge.servicers.requests] == ["PAYLOAD_TOO_LARGE"]


async def test_a_bad_header_is_reported_without_it(edge: Edge) -> None:
    await edge.post_json("/v2/jobs/42/failure", "{}", **KNOWN | {"Idempotency-Key": "k" * 201})

    (call,) = edge.servicers.calls
    assert call.policy.name == "ReportRefusal"
    assert "idempotency-key" not in call.metadata


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        pytest.param("/v2/jobs/42/failure", {}, id="no credential"),
        pytest.param("/v2/variables/search", KNOWN, id="a read"),
        pytest.param("/v2/expression/evaluation", KNOWN, id="nothing changes"),
    ],
)
@pytest.mark.parametrize(
    ("error", "status"),
    [
        (Unauthenticated("who"), 401),
        (PermissionDenied("no"), 403),
        (TenantMismatch("not yours"), 403),
        (ModeNotSupported("not here", mode="embedded"), 501),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_a_refusal_of_the_caller_goes_before_that_of_the_body(
    edge: Edge, path: str, headers: dict[str, str], error: ServiceError, status: int
) -> None:
    edge.servicers.answers["report_refusal"] = error

    reply = await edge.post_json(path, "{", **headers)

    assert reply.status == status
    assert orjson.loads(reply.body)["detail"] == error.detail


async def test_a_credential_that_is_given_twice_is_malformed(edge: Edge) -> None:
    edge.servicers.answers["report_refusal"] = Unauthenticated("who")
    twice = CIMultiDict([("Authorization", "Bearer a"), ("Authorization", "Bearer b")])

    reply = await edge.send("POST", "/v2/jobs/42/failure", data="{}", headers=twice)

    assert reply.status == 400
    assert edge.servicers.requests == []


@pytest.mark.parametrize("error", [InvalidArgument("new to me"), Unavailable("down"), RuntimeError("broken")])
async def test_a_report_that_fails_changes_no_answer(
    edge: Edge, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    edge.servicers.answers["report_refusal"] = error

    replies = [await edge.post_json("/v2/jobs/42/failure", "{", **KNOWN) for _ in range(3)]

    assert [reply.status for reply in replies] == [400, 400, 400]
    told = [record for record in caplog.records if record.message == "refused requests are not reported"]
    assert len(told) == (0 if isinstance(error, InvalidArgument) else 1)
