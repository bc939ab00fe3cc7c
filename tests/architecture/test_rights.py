"""Each operation of administration declares the right of its callers, or checks its callers in another way."""

from collections.abc import Iterator

import pytest

from gnomon.identity.v1 import group_service_pb2
from gnomon.rest.v1 import options_pb2
from identity.access.callers import AdministrationArea, Right
from identity.access.rpc.admission import DeclaredRight, declared_rights
from server.platform.policy import CallerKind, Policy, policies_of, services

# The user alone, in a browser.
OF_ONESELF = {
    "AllowSupportAccess",
    "BeginProviderLink",
    "CheckAccountDeletion",
    "ConfirmCodeGenerator",
    "ConvertToPasskey",
    "CreateRecoveryCodes",
    "DeleteAccount",
    "DeleteProviderLink",
    "FinishPasskeyRegistration",
    "IssueModificationToken",
    "RenameCodeGenerator",
    "StartCodeGenerator",
    "StartPasskeyRegistration",
    "TurnOnEmailCodes",
    "UpdateAccount",
    "WithdrawSupportAccess",
}
# The request decides whose right is needed, or which one.
BY_REQUEST = {
    "AdmitImage",
    "CheckApiKey",
    "DeleteImage",
    "FinishPasskeyAuthentication",
    "GetImage",
    "PutImage",
    "StartPasskeyAuthentication",
}


def operations() -> Iterator[Policy]:
    for service in services():
        if service.full_name.startswith("gnomon.identity."):
            yield from policies_of(service).values()


def test_an_operation_declares_a_right_or_is_one_of_those_that_check_themselves() -> None:
    rights = declared_rights()

    undeclared = {
        policy.name
        for policy in operations()
        if policy.caller is CallerKind.CREDENTIAL and policy.request not in rights
    }
    assert undeclared == OF_ONESELF | BY_REQUEST


def test_a_right_is_read_from_the_contract() -> None:
    expected = DeclaredRight(AdministrationArea.GROUPS, Right.DELETE, or_self=False)

    assert declared_rights()[group_service_pb2.DeleteGroupRequest] == expected


@pytest.mark.parametrize("policy", list(operations()), ids=lambda policy: policy.name)
def test_a_user_who_may_do_it_as_well_is_named_by_the_request(policy: Policy) -> None:
    rule = policy.descriptor.GetOptions().Extensions[options_pb2.method].right

    assert not rule.or_self or "user_id" in policy.descriptor.input_type.fields_by_name


@pytest.mark.parametrize("policy", list(operations()), ids=lambda policy: policy.name)
def test_a_tenant_whose_administrators_may_do_it_is_named_by_the_request(policy: Policy) -> None:
    rule = policy.descriptor.GetOptions().Extensions[options_pb2.method].right

    assert not rule.tenant_field or rule.tenant_field in policy.descriptor.input_type.fields_by_name
    assert not (rule.tenant_field and rule.of_deployment)


def test_administrators_of_the_deployment_alone_have_its_tenants() -> None:
    rights = declared_rights()

    assert {"ListTenants", "CreateTenant", "UpdateTenant", "DeleteTenant"} == {
        policy.name
        for policy in operations()
        if policy.request in rights and rights[policy.request].of_deployment
    }
