"""Every RPC of the contract is served where it says so, and says who may call it."""

import asyncio
import inspect
from collections import Counter
from collections.abc import Mapping

import pytest
from google.protobuf.descriptor import ServiceDescriptor

from server.access.config import AccessConfig
from server.access.user_names import UserNames
from server.app import create_embedded_engine, personal_data, refusal_reports
from server.config import EngineConfig
from server.platform.dispatch import snake_case
from server.platform.errors import PROBLEMS
from server.platform.policy import Mode, Policy, policies_of, services
from server.rpc.audit_log_entry import CATEGORIES
from server.rpc.refusals import AUDITED_RPCS
from tests.identity.deployment import deployed

# Any credential may ask, whatever its permissions.
OPEN_TO_THE_AUTHENTICATED = {
    "/gnomon.engine.v1.TopologyService/GetTopology",
    "/gnomon.engine.v1.SystemService/GetSystemConfiguration",
    "/gnomon.directory.v1.AuthenticationService/GetAuthentication",
    # The servicer admits the person, and others by their permissions.
    "/gnomon.engine.v1.PersonalDataService/ListPersonalData",
}

# Only the embedded mode, which keeps no audit log, has a clock that moves.
UNAUDITED = {"PinClock", "ResetClock"}

POLICIES = {policy.path: policy for service in services() for policy in policies_of(service).values()}


async def _servicers() -> Mapping[str, object | None]:
    engine = create_embedded_engine(EngineConfig())
    async with deployed() as running:
        together = {
            **engine.servicers,
            **running.identity.servicers,
            **refusal_reports(engine, lambda _: None, Mode.EMBEDDED),
            **personal_data(
                engine, UserNames(running.system_channel, AccessConfig(issuer=running.identity.issuer))
            ),
        }
    return {service.full_name: servicer for service, servicer in together.items()}


@pytest.fixture(scope="module")
def servicers() -> Mapping[str, object | None]:
    """Servicers of the embedded mode by the name of their service."""
    return asyncio.run(_servicers())


def service_of(policy: Policy) -> str:
    service = policy.descriptor.containing_service
    assert isinstance(service, ServiceDescriptor)
    return str(service.full_name)


def test_every_service_is_wired(servicers: Mapping[str, object | None]) -> None:
    assert {service.full_name for service in services()} == servicers.keys()


def test_every_rpc_of_the_embedded_mode_has_a_method(servicers: Mapping[str, object | None]) -> None:
    served = {
        path
        for path, policy in POLICIES.items()
        if inspect.iscoroutinefunction(getattr(servicers[service_of(policy)], snake_case(policy.name), None))
    }

    assert served == {path for path, policy in POLICIES.items() if Mode.EMBEDDED in policy.modes}


def test_no_servicer_serves_what_the_contract_does_not_know(servicers: Mapping[str, object | None]) -> None:
    known = {(service_of(policy), snake_case(policy.name)) for policy in POLICIES.values()}

    served = {
        (service, name)
        for service, servicer in servicers.items()
        for name, _ in inspect.getmembers(servicer, inspect.iscoroutinefunction)
        if not name.startswith("_")
    }

    assert served <= known


def test_every_rpc_names_its_permission_or_is_open() -> None:
    claims = {
        path: [bool(policy.permission), not policy.needs_principal, path in OPEN_TO_THE_AUTHENTICATED]
        for path, policy in POLICIES.items()
    }

    assert {path: claim for path, claim in claims.items() if claim.count(True) != 1} == {}


def test_every_rejection_that_an_rpc_names_is_a_reason() -> None:
    assert {rejection for policy in POLICIES.values() for rejection in policy.rejections} <= PROBLEMS.keys()


# What a check uses up is no entity.
READS = ("Get", "Search", "List", "Await", "Check")


def test_every_change_of_identity_in_the_process_api_is_audited() -> None:
    """By fields that its request has."""
    changing = {
        path: policy
        for path, policy in POLICIES.items()
        if path.startswith(("/gnomon.identity.", "/gnomon.directory."))
        and policy.permission
        and not policy.name.startswith(READS)
    }

    assert changing
    for policy in changing.values():
        rule, fields = policy.audit, policy.request.DESCRIPTOR.fields_by_name
        assert rule is not None, policy.path
        assert rule.operation_type
        assert rule.entity_type in CATEGORIES
        assert rule.entity_field in fields
        assert bool(rule.related_entity_type) == bool(rule.related_entity_field)
        assert not rule.related_entity_field or rule.related_entity_field in fields


def test_no_other_rpc_has_the_name_of_a_command() -> None:
    """The audit log knows calls that were refused early by their names."""
    names = Counter(policy.name for policy in POLICIES.values())

    assert {name for name in AUDITED_RPCS if names[name] != 1} == set()


def test_every_command_is_audited_also_when_it_is_refused_early() -> None:
    commands = {policy.name: policy for policy in POLICIES.values() if policy.is_command}

    assert commands.keys() - UNAUDITED == AUDITED_RPCS.keys()
    for name, audited in AUDITED_RPCS.items():
        assert audited.key is None or audited.key in commands[name].request.DESCRIPTOR.fields_by_name
