"""Every RPC of the gateway is served, and stands for one of the contract that makes its requirements."""

import inspect
import subprocess
import sys

import pytest

from server import gateway
from server.platform.dispatch import snake_case
from server.platform.policy import Policy, policies_of, services
from tests.server.gateway.zeebe import METHODS
from tests.server_process import ROOT

OWN = {policy.path: policy for service in services() for policy in policies_of(service).values()}
ZEEBE = policies_of(gateway.SERVICE)
# Any credential may ask.
OPEN_TO_THE_AUTHENTICATED = {"Topology"}


@pytest.mark.parametrize("policy", ZEEBE.values(), ids=METHODS)
def test_every_rpc_stands_for_one_that_asks_for_a_permission(policy: Policy) -> None:
    own = OWN[policy.stands_for]

    assert own.needs_principal
    assert bool(own.permission) is (policy.name not in OPEN_TO_THE_AUTHENTICATED)


@pytest.mark.parametrize("policy", ZEEBE.values(), ids=METHODS)
def test_an_rpc_that_stands_for_another_has_no_requirement_of_its_own(policy: Policy) -> None:
    assert not policy.permission
    assert not policy.rejections
    assert not policy.tenant_fields
    assert not policy.is_audited
    assert policy.audit is None


@pytest.mark.parametrize("policy", ZEEBE.values(), ids=METHODS)
def test_every_rpc_has_a_method(policy: Policy) -> None:
    method = getattr(gateway.GatewayServicer, snake_case(policy.name))

    assert inspect.iscoroutinefunction(method)


def test_no_rpc_of_the_contract_stands_for_another() -> None:
    assert [policy.path for policy in OWN.values() if policy.stands_for] == []


def test_programs_that_embed_the_engine_may_have_messages_of_zeebe_beside_it() -> None:
    """Two files with messages of the same names cannot be loaded into one process."""
    code = "import sys, server.embedding; print([name for name in sys.modules if 'gateway_protocol' in name])"

    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)

    assert ended.stdout == "[]\n"
