"""What clients may expect of the system."""

import pytest

from server.platform.errors import InvalidArgument, Unauthenticated
from tests.server.rpc.caller import Caller


async def test_no_license_is_needed_and_nobody_needs_a_credential_to_know(caller: Caller) -> None:
    license_ = await caller.signed_in_as("nobody")("GetLicense")

    assert (license_.valid_license, license_.is_commercial, license_.license_type) == (True, False, "none")
    assert not license_.HasField("expires_at")


async def test_the_bounds_that_clients_are_told_are_those_of_the_calls(caller: Caller) -> None:
    bounds = (await caller("GetSystemConfiguration")).job_metrics

    assert bounds.enabled
    assert bounds.export_interval == "PT0S"
    for field, most in (("type", bounds.max_job_type_length), ("worker", bounds.max_worker_name_length)):
        request = {"type": "a", "timeout": 1, "max_jobs_to_activate": 1, "request_timeout": -1}
        assert not (await caller("ActivateJobs", **{**request, field: "x" * most})).jobs
        with pytest.raises(InvalidArgument, match=field):
            await caller("ActivateJobs", **{**request, field: "x" * (most + 1)})


async def test_the_bounds_need_a_credential(caller: Caller) -> None:
    with pytest.raises(Unauthenticated):
        await caller.signed_in_as("nobody")("GetSystemConfiguration")
