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


# Callers have `identity:write` or an API key. `Administrators.guard` checks what these operations give and take.
GUARDED = {
    *("CreateUser", "UpdateUser", "DeleteUser", "EraseUser", "UpdateUserAttributeValues"),
    *("UpdateAccount", "UpdatePreferredUsername", "DeleteAccount"),
    *("CreateGroup", "UpdateGroup", "DeleteGroup", "CreateRole", "UpdateRole", "DeleteRole"),
    *("CreateScope", "UpdateScope", "DeleteScope"),
    *(f"{verb}AuthorizationDetailsType" for verb in ("Create", "Update", "Delete")),
    *(
        "CreateScimResource",
        "ReplaceScimResource",
        "PatchScimResource",
        "DeleteScimResource",
        "RunScimOperations",
    ),
    *("CreateClient", "UpdateClient", "DeleteClient"),
}
# `LastAdministrator` checks this one, which takes roles from the user who calls it.
OWN_ROLES = {"DeleteProviderLink"}
# An API key is refused where an administrator, or what makes administrators, is concerned.
REFUSED_FOR_KEYS = {
    *("CreateProvider", "CreateProviderFromPreset", "UpdateProvider", "DeleteProvider"),
    *("CreateLdapDirectory", "UpdateLdapDirectory", "DeleteLdapDirectory"),
    *("RotateClientSecret", "UpdateClientScreens", "PutImage", "DeleteImage", "ImportUsers"),
    *("PutSamlApplication", "DeleteSamlApplication", "PutScimApplication", "DeleteScimApplication"),
    *("CreateApiKey", "UpdateApiKey", "DeleteApiKey", "RotateApiKeySecret"),
    *("DeletePasskey", "DeleteCodeGenerator", "DeleteRecoveryCodes", "TurnOffEmailCodes"),
    *("WithdrawConsent", "RenameDevice", "RevokeDevice"),
}
# They change no right of a principal; tenants belong to administrators of the deployment.
WITHOUT_RIGHTS = {
    *("CreateTenant", "UpdateTenant", "DeleteTenant", "UpdateTenantSettings", "UpdatePasswordPolicy"),
    *("CreateSignInDomain", "UpdateSignInDomain", "VerifySignInDomain", "DeleteSignInDomain"),
    *("CreateUserAttribute", "UpdateUserAttribute", "DeleteUserAttribute"),
    *("EndSession", "EndSessionOfUser", "EndSessionsOfUser", "EndAllSessions"),
    *("AllowSupportAccess", "WithdrawSupportAccess", "StartImpersonation"),
    *("CreateWebhook", "UpdateWebhook", "DeleteWebhook", "RotateWebhookSecret"),
    *("PublishTerms", "AddTermsText", "WithdrawTerms", "BlockAddress", "UnblockAddress"),
    *("RotateKeys", "CreateSamlKey", "ActivateSamlKey", "DeleteNextSamlKey"),
    *("SynchronizeScimApplication", "TryScimApplication", "TryLdapDirectory", "LookUpProvider"),
    *("PreviewClientScreen", "AdmitImage", "CheckApiKey", "CheckAccountDeletion", "IssueModificationToken"),
    *("ExportUsers", "ExportPersonalData", "DescribeProvisioning", "AwaitEvents", "BeginProviderLink"),
    *("StartCodeGenerator", "ConfirmCodeGenerator", "RenameCodeGenerator", "CreateRecoveryCodes"),
    *("TurnOnEmailCodes", "ConvertToPasskey", "StartPasskeyRegistration", "FinishPasskeyRegistration"),
    *("StartPasskeyAuthentication", "FinishPasskeyAuthentication"),
}


def test_an_operation_that_changes_something_says_how_rights_are_kept() -> None:
    changing = {
        policy.name
        for policy in operations()
        if policy.caller is CallerKind.CREDENTIAL and not policy.is_read
    }
    named = (GUARDED, OWN_ROLES, REFUSED_FOR_KEYS, WITHOUT_RIGHTS)

    assert changing == set().union(*named)
    assert sum(map(len, named)) == len(changing)
