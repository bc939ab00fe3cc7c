"""/ldap_directories over HTTP."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from identity.delivery.ldap.config import LdapConfig
from identity.directory.tenants.ldap_directory import LDAP_DIRECTORIES, LDAP_LINKS, LdapLink
from identity.directory.user import USERS
from server.platform.call import TenantId
from tests.edge.oidc.administration.administrator import Administrator
from tests.identity.certificates import issue
from tests.identity.deployment import CONFIG, Deployment, deployed

PASSWORD = "s3cret of the service"
WHOLE: dict[str, Any] = {
    "name": "Company",
    "enabled": True,
    "urls": ["ldaps://dc1.example.com", "ldaps://dc2.example.com:3269"],
    "start_tls": False,
    "bind_dn": "cn=gnomon,dc=example,dc=com",
    "user_base": "ou=people,dc=example,dc=com",
    "user_filter": "(&(objectClass=user)(sAMAccountName={name}))",
    "id_attribute": "objectGUID",
    "username_attribute": "sAMAccountName",
    "email_attribute": "mail",
    "given_name_attribute": "givenName",
    "family_name_attribute": "sn",
    "member_of_attribute": "memberOf",
    "group_base": "ou=groups,dc=example,dc=com",
    "group_filter": "(member={dn})",
    "group_name_attribute": "cn",
    "mappings": [{"group": "staff", "roles": ["admin"], "groups": []}],
    "auto_onboarding": False,
    "auto_link": True,
    "timeout": 5,
    "pool_size": 8,
}
NEW = WHOLE | {"bind_password": PASSWORD}
LEAST = {
    "name": "Company",
    "urls": ["ldaps://dc1.example.com"],
    "user_base": "ou=people,dc=example,dc=com",
}
AUTHORITY = issue("CN=Authority", is_authority=True).certificate.public_bytes(Encoding.PEM).decode()
RIGHTS = ["read", "create", "update", "delete"]
DEFAULT = TenantId("default")


@pytest.fixture
async def deployment() -> AsyncIterator[Deployment]:
    async with deployed(replace(CONFIG, ldap=LdapConfig(allowed_networks=("127.1.0.0/16",)))) as running:
        yield running


async def created(administrator: Administrator, body: dict[str, Any] = NEW) -> dict[str, Any]:
    answer = await administrator.send("POST", "ldap_directories", body)
    assert answer.status == 200, await answer.text()
    return dict(await answer.json())


async def test_a_directory_is_kept_listed_changed_and_deleted(administrator: Administrator) -> None:
    directory = await created(administrator)
    path = f"ldap_directories/{directory['id']}"
    assert {name: directory[name] for name in WHOLE} == WHOLE
    assert await (await administrator.send("GET", "ldap_directories")).json() == [directory]

    changed = await administrator.send("PUT", path, WHOLE | {"name": "Corporation"})

    assert await changed.json() == directory | {"name": "Corporation"}
    assert (await administrator.send("DELETE", path)).status == 200
    assert (await administrator.send("DELETE", path)).status == 404


async def test_a_new_directory_needs_little(administrator: Administrator) -> None:
    directory = await created(administrator, LEAST)

    assert directory["user_filter"] == "(&(objectClass=person)(|(uid={name})(mail={name})))"
    assert (directory["enabled"], directory["auto_onboarding"], directory["auto_link"]) == (True, True, False)
    assert (directory["timeout"], directory["pool_size"], directory["id_attribute"]) == (3, 4, "entryUUID")


async def test_an_empty_text_means_the_default(administrator: Administrator) -> None:
    empty = {"user_filter": "", "id_attribute": "", "username_attribute": "", "timeout": 0}

    directory = await created(administrator, LEAST | empty)

    assert (directory["id_attribute"], directory["username_attribute"]) == ("entryUUID", "uid")
    assert (directory["user_filter"][:2], directory["timeout"]) == ("(&", 3)


async def test_the_password_is_never_shown(administrator: Administrator, deployment: Deployment) -> None:
    answer = await administrator.send("POST", "ldap_directories", NEW)

    (kept,) = await deployment.store.of(LDAP_DIRECTORIES).page(DEFAULT)
    assert PASSWORD not in await answer.text()
    assert kept.bind_password is not None
    assert PASSWORD not in msgspec.json.encode(kept).decode()
    assert PASSWORD not in repr(kept)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"urls": ["ldap://dc1.example.com"]}, id="in the clear"),
        pytest.param({"urls": ["https://dc1.example.com"]}, id="no directory"),
        pytest.param({"urls": ["ldaps://dc1.example.com/dc=com??sub"]}, id="a search"),
        pytest.param({"urls": ["ldaps://user@dc1.example.com"]}, id="a user"),
        pytest.param({"urls": ["ldaps://dc1.example.com:port"]}, id="no port"),
        pytest.param({"urls": []}, id="no server"),
        pytest.param({"urls": ["ldaps://127.0.0.1"]}, id="loopback"),
        pytest.param({"urls": ["ldaps://10.2.0.1"]}, id="another network"),
        pytest.param({"urls": ["ldaps://169.254.169.254"]}, id="metadata service"),
        pytest.param({"user_filter": "(uid=alice)"}, id="filter without the name"),
        pytest.param({"user_filter": "(uid={name}"}, id="no filter"),
        pytest.param({"user_filter": "(|" * 400 + "(uid={name})" + ")" * 400}, id="deep filter"),
        pytest.param({"group_filter": "(member=x)"}, id="group filter without the user"),
        pytest.param({"user_base": "example.com"}, id="no DN"),
        pytest.param({"id_attribute": "entry UUID"}, id="no attribute"),
        pytest.param({"ca_certificates": "certificate"}, id="no certificate"),
        pytest.param({"group_base": ""}, id="name of a group anywhere"),
        pytest.param({"mappings": [{"group": "staff", "roles": ["none"]}]}, id="unknown role"),
        pytest.param({"timeout": 31}, id="long timeout"),
        pytest.param({"pool_size": 33}, id="large pool"),
        pytest.param({"bind_password": ""}, id="no password"),
        pytest.param({"more": 1}, id="unknown member"),
    ],
)
async def test_settings_that_no_directory_has(administrator: Administrator, changes: dict[str, Any]) -> None:
    answer = await administrator.send("POST", "ldap_directories", NEW | changes)

    assert answer.status == 400, await answer.text()


async def test_servers_of_an_allowed_network(administrator: Administrator) -> None:
    await created(administrator, NEW | {"urls": ["ldap://127.1.2.3"], "start_tls": True})


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"urls": ["ldaps://dc9.example.com"]}, id="another server"),
        pytest.param({"bind_dn": "cn=other,dc=example,dc=com"}, id="another entry"),
        pytest.param({"ca_certificates": AUTHORITY}, id="another authority"),
    ],
)
async def test_the_password_does_not_go_elsewhere(
    administrator: Administrator, changes: dict[str, Any]
) -> None:
    directory = await created(administrator)
    path = f"ldap_directories/{directory['id']}"

    assert (await administrator.send("PUT", path, WHOLE | changes)).status == 400
    assert (await administrator.send("PUT", path, NEW | changes)).status == 200


async def test_a_key_without_the_right_is_refused(administrator: Administrator) -> None:
    directory = await created(administrator)
    reader = await administrator.key("reader", AuthProviders=["read"])
    path = f"ldap_directories/{directory['id']}"

    assert (await reader.send("GET", "ldap_directories")).status == 200
    assert (await reader.send("GET", f"{path}/users")).status == 200
    for method, place in (("POST", ""), ("PUT", f"/{directory['id']}"), ("DELETE", f"/{directory['id']}")):
        body = None if method == "DELETE" else NEW
        assert (await reader.send(method, f"ldap_directories{place}", body)).status == 403
    assert (await reader.send("POST", f"{path}/test", {"name": "alice"})).status == 403


async def test_a_key_makes_no_administrators(administrator: Administrator, deployment: Deployment) -> None:
    key = await administrator.key("keeper", AuthProviders=RIGHTS)
    modest = NEW | {"mappings": []}
    assert (await key.send("POST", "ldap_directories", NEW)).status == 403
    directory = await (await key.send("POST", "ldap_directories", modest)).json()
    path = f"ldap_directories/{directory['id']}"
    assert (await key.send("PUT", path, modest)).status == 200
    (user,) = await deployment.store.of(USERS).page(DEFAULT)
    await deployment.store.of(LDAP_LINKS).insert(
        LdapLink(tenant_id=DEFAULT, id=f"{directory['id']} 7", directory_id=directory["id"], user_id=user.id)
    )

    assert (await key.send("PUT", path, modest)).status == 403
    assert (await key.send("DELETE", path)).status == 403
    assert await (await key.send("GET", f"{path}/users")).json() == [{"id": user.id, "email": user.email}]


async def test_a_role_that_is_deleted_is_given_no_more(administrator: Administrator) -> None:
    role = await (await administrator.send("POST", "roles", {"role": "worker"})).json()
    mappings = [{"group": "staff", "roles": ["worker"], "groups": []}]
    await created(administrator, NEW | {"mappings": mappings})

    assert (await administrator.send("DELETE", f"roles/{role['id']}")).status == 200

    (directory,) = await (await administrator.send("GET", "ldap_directories")).json()
    assert directory["mappings"] == [{"group": "staff", "roles": [], "groups": []}]


async def test_there_are_at_most_ten(administrator: Administrator) -> None:
    for _ in range(10):
        await created(administrator)

    assert (await administrator.send("POST", "ldap_directories", NEW)).status == 409


async def test_another_tenant_sees_none(administrator: Administrator) -> None:
    directory = await created(administrator)

    theirs = await administrator.http.get(
        f"/auth/v1/acme/ldap_directories/{directory['id']}/users",
        headers={"Authorization": administrator.authorization},
    )

    assert theirs.status == 404


async def test_a_trial_names_what_failed(administrator: Administrator) -> None:
    directory = await created(administrator, NEW | {"urls": ["ldaps://127.1.0.1:1"], "timeout": 1})

    answer = await administrator.send("POST", f"ldap_directories/{directory['id']}/test", {"name": "alice"})

    trial = await answer.json()
    assert trial["servers"][0]["url"] == "ldaps://127.1.0.1:1"
    assert trial["servers"][0]["problem"]
    assert "user" not in trial or trial["user"] is None
