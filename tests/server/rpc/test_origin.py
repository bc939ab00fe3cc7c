"""Callers in the audit log."""

import pytest

from gnomon.engine.v1 import job_service_pb2 as jobs
from server.platform.call import Call, Principal, TenantId
from server.platform.policy import policy_of
from server.rpc.origin import origin_of

TENANT = TenantId("acme")
FAIL_JOB = policy_of(jobs.DESCRIPTOR.services_by_name["JobService"].methods_by_name["FailJob"])


@pytest.mark.parametrize(
    ("acting", "shown"), [("sam", "sam as alice"), ("", "alice")], ids=["support", "the user"]
)
def test_a_command_of_support_names_both_people(acting: str, shown: str) -> None:
    principal = Principal("alice", frozenset({TENANT}), frozenset(), is_person=True, acting=acting)
    request = jobs.FailJobRequest()
    call = Call(FAIL_JOB, request, {}, principal=principal, tenant_id=TENANT)

    origin = origin_of(request, call)

    assert (origin.actor_id, origin.actor_type) == (shown, "USER")
