"""Pages of administrators in front of services with configured responses."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeVar

import pytest
from aiohttp import ClientResponse, web
from aiohttp.test_utils import TestClient, TestServer
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message
from lxml import html

from edge.app import create_app
from edge.config import EdgeConfig
from edge.console import console_routes
from edge.console.administration import policy_named
from edge.console.identity.declarations import Form, FormField, Listing, RecordKind
from edge.console.identity.kinds import KINDS
from edge.console.identity.paths import field_at
from edge.console.texts import DONE
from edge.fields import message_of
from edge.metadata import Metadata
from edge.oidc.config import AccessConfig, OidcConfig
from gnomon.directory.v1 import authentication_service_pb2 as directory
from gnomon.directory.v1.tenant_pb2 import Tenant
from gnomon.engine.v1 import audit_entry_pb2, audit_log_pb2, audit_log_service_pb2
from gnomon.identity.v1 import api_key_service_pb2 as api_keys
from gnomon.identity.v1 import authorization_details_type_service_pb2 as details_types
from gnomon.identity.v1 import client_service_pb2 as clients
from gnomon.identity.v1 import group_service_pb2 as groups
from gnomon.identity.v1 import ldap_directory_service_pb2 as directories
from gnomon.identity.v1 import provider_service_pb2 as providers
from gnomon.identity.v1 import session_administration_service_pb2 as all_sessions
from gnomon.identity.v1 import session_service_pb2 as sessions
from gnomon.identity.v1 import tenant_service_pb2 as tenants
from gnomon.identity.v1 import user_pb2
from gnomon.identity.v1 import user_service_pb2 as users
from gnomon.query.v1.page_pb2 import PageResponse
from server.platform.call import Call, Principal, TenantId
from server.platform.channels import LocalChannel
from server.platform.dispatch import Dispatcher, snake_case
from server.platform.errors import AlreadyExists, InvalidArgument, PermissionDenied
from server.platform.interceptors import interceptors
from server.platform.languages import languages
from server.platform.peer import LOCAL_EDGE
from server.platform.policy import Mode, services
from tests.edge.harness import Servicers
from tests.edge.oidc.protocol.provider import OPERATOR

TOKEN = "proof-of-the-page"
COOKIES = {"GnomonSession": "of-the-deployment", "GnomonSession.acme": "of-acme"}
HOSTILE = "<img src=x onerror=alert(1)>"
ADA = user_pb2.User(id="u1", email="ada@example.com", groups=["staff"], language="en", enabled=True)
ACME = TenantId("acme")
PAGE = "/console/acme/identity"

Kind = TypeVar("Kind", bound=Message)


@dataclass(frozen=True)
class Console:
    servicers: Servicers
    http: TestClient[web.Request, web.Application]

    def answers(self, **answers: Message | Exception) -> None:
        self.servicers.answers.update(answers)

    def asked(self, kind: type[Kind]) -> list[Kind]:
        return [request for request in self.servicers.requests if isinstance(request, kind)]

    async def page(self, path: str, status: int = 200) -> html.HtmlElement:
        response = await self.http.get(f"{PAGE}/{path}")
        return await read(response, status)

    async def send(self, path: str, **form: str) -> ClientResponse:
        return await self.http.post(f"{PAGE}/{path}", data=form, allow_redirects=False)


async def read(response: ClientResponse, status: int = 200) -> html.HtmlElement:
    assert (response.status, response.content_type) == (status, "text/html")
    return html.document_fromstring(await response.text())


@pytest.fixture
async def console() -> AsyncIterator[Console]:
    async with opened(Mode.EMBEDDED) as found:
        yield found


@asynccontextmanager
async def opened(mode: Mode) -> AsyncIterator[Console]:
    servicers = Servicers()
    admission = interceptors(mode, _admit)
    channel = LocalChannel(
        Dispatcher(dict.fromkeys(services(), servicers), admission), OPERATOR, peer=LOCAL_EDGE
    )
    config = EdgeConfig(port=0)
    pages = console_routes(
        channel,
        config,
        oidc=OidcConfig(),
        access=AccessConfig(),
        has_tls=False,
        canonical=None,
        credential_of=_no_credential,
    )
    servicers.answers |= {
        "find_tenant_of_host": tenants.FindTenantOfHostResponse(),
        "get_session": sessions.GetSessionResponse(
            session=sessions.Session(id="s1", csrf_token=TOKEN, state=sessions.SESSION_STATE_AUTH)
        ),
        "get_authentication": directory.GetAuthenticationResponse(
            authentication=directory.Authentication(username="ada", tenants=[Tenant(tenant_id="acme")])
        ),
    }
    async with TestClient(TestServer(create_app(config, lambda _: channel, pages)), cookies=COOKIES) as http:
        yield Console(servicers, http)


def _admit(call: Call) -> None:
    """Admit every call, as a person who may read the audit log of the tenant."""
    call.principal = Principal("ada", frozenset({ACME}), frozenset({"audit:read"}))


async def _no_credential(_request: web.Request) -> Metadata:
    return []


def forms_of(kind: RecordKind) -> Iterator[Form]:
    rows = [listing.row for listing in listings_of(kind) if listing.row]
    yield from (*((kind.create,) if kind.create else ()), *kind.forms, *kind.actions, *rows)


def listings_of(kind: RecordKind) -> Iterator[Listing]:
    yield from (*((kind.listing,) if kind.listing else ()), *(part.listing for part in kind.parts))


def item_of(listing: Listing) -> Descriptor:
    response = policy_named(listing.rpc).descriptor.output_type
    (field,) = (each for each in response.fields if each.is_repeated and each.message_type)
    return message_of(field)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_declaration_names_fields_of_the_contract_and_reports_that_have_a_text(kind: RecordKind) -> None:
    for form in forms_of(kind):
        request = policy_named(form.rpc).descriptor.input_type
        for path in (*form.keys, *(field.path for field in form.fields)):
            field_at(request, path)
        if form.secret:
            assert form.secret in policy_named(form.rpc).descriptor.output_type.fields_by_name
        assert form.done in DONE
    for column in kind.facts if kind.status else ():
        field_at(policy_named(kind.status).descriptor.output_type, column.path)
    for listing in listings_of(kind):
        item = item_of(listing)
        for path in (*filter(None, (listing.key,)), *(column.path for column in listing.columns)):
            field_at(item, path)
        for field in listing.filters:
            field_at(policy_named(listing.rpc).descriptor.input_type, field.path)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_sources_of_choices_are_paths_in_responses(kind: RecordKind) -> None:
    fields: Iterator[FormField] = chain(*(form.fields for form in forms_of(kind)))
    for source in {source for field in fields for source in field.sources if source.rpc}:
        for path in source.paths:
            field_at(policy_named(source.rpc).descriptor.output_type, path)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_forms_that_take_away_ask_first(kind: RecordKind) -> None:
    destructive = ("Delete", "End", "Revoke", "Rotate", "Withdraw", "Unblock")

    assert [
        form.name for form in forms_of(kind) if form.rpc.startswith(destructive) and not form.warning
    ] == []


def test_every_setting_of_a_client_has_an_input() -> None:
    inputs = {field.path for form in KINDS["clients"].forms for field in form.fields}
    settings = {f"client.{name}" for name in clients.Client.DESCRIPTOR.fields_by_name}

    assert settings - inputs == {"client.id"}


async def test_the_list_of_sessions_shows_how_far_the_sign_out_of_all_users_is(console: Console) -> None:
    progress = all_sessions.GetSignOutProgressResponse(
        signed_out_at=1_893_499_200, sessions_left=98_765, sessions_ended=1_234
    )
    console.answers(
        list_sessions=all_sessions.ListSessionsResponse(),
        get_sign_out_progress=progress,
    )

    page = await console.page("sessions")

    assert [text.strip() for text in page.xpath("//dl//dd//text()") if text.strip()][1:] == [
        "–",
        "98765",
        "1234",
        "0",
    ]


async def test_a_list_is_read_with_the_session_of_the_tenant_and_its_own_page_and_filters(
    console: Console,
) -> None:
    console.answers(list_users=users.ListUsersResponse(users=[ADA], continuation_token="behind-ada"))

    page = await console.page("users?search=ad&group=staff&sort=email&order=desc")

    (asked,) = console.asked(users.ListUsersRequest)
    assert (asked.tenant_id, asked.caller.browser.session, asked.caller.is_read) == ("acme", "of-acme", True)
    assert (asked.search, asked.group, asked.sort, asked.is_descending) == ("ad", "staff", "email", True)
    assert asked.page_size == 50
    assert page.xpath("//tbody/tr/th/a/@href") == ["/console/acme/identity/users/u1"]
    assert page.xpath("//a[text()='Next page']/@href") == [
        "/console/acme/identity/users?search=ad&group=staff&after=behind-ada&sort=email&order=desc"
    ]
    assert page.xpath("//th[@aria-sort='descending']//text()")[0].strip() == "Email address"


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS.values() if not kind.is_of_deployment], ids=lambda kind: kind.name
)
async def test_pages_of_records_are_in_the_language_of_the_browser(
    console: Console, kind: RecordKind
) -> None:
    console.http.session.headers["Accept-Language"] = "de-CH, en;q=0.5"

    response = await console.http.get(f"{PAGE}/{kind.name}")
    page = await read(response)

    assert (page.get("lang"), response.headers["Content-Language"]) == ("de", "de")
    assert "Accept-Language" in response.headers.getall("Vary")
    assert languages().of("de").translated(kind.title) in page.xpath("//h1/text()")
    assert "Übersicht" in page.xpath("//nav//a/text()")


async def test_a_value_of_a_record_is_not_translated(console: Console) -> None:
    group = user_pb2.User(id="u1", email="Delete", groups=["Save"], enabled=True)
    console.answers(list_users=users.ListUsersResponse(users=[group]))
    console.http.session.headers["Accept-Language"] = "de"

    page = await console.page("users")

    assert page.xpath("//tbody/tr/th//text()") == ["Delete"]
    cells = [text.strip() for text in page.xpath("//tbody/tr/td//text()")]
    assert ("Save" in cells, "Ja" in cells) == (True, True)


async def test_a_form_has_the_bounds_of_the_contract(console: Console) -> None:
    page = await console.page("new/api-keys")

    (name,) = page.xpath("//input[@name='name']")
    assert (name.get("pattern"), name.get("required")) == (r"^[A-Za-z0-9_\-]{2,64}$", "")
    rights = page.xpath("//input[@name='access']/@value")
    assert len(rights) == 20 * 4
    assert "Users:update" in rights


async def test_a_new_record_begins_as_the_api_begins_it(console: Console) -> None:
    page = await console.page("new/providers")

    assert page.xpath("//input[@type='checkbox' and @checked]/@name") == [
        "fields.enabled",
        "fields.forward_sign_in_hints",
    ]


async def test_a_change_without_the_token_of_the_session_reaches_no_service(console: Console) -> None:
    refused = [
        await console.send("new/users", form="create", **{"fields.email": "eve@example.com"}, **token)
        for token in ({}, {"csrf_token": "guessed"}, {"csrf_token": "\u00e9"})
    ]

    assert [response.status for response in refused] == [403, 403, 403]
    assert console.asked(users.CreateUserRequest) == []


async def test_a_form_is_sent_to_the_tenant_of_the_page_with_the_token(console: Console) -> None:
    console.answers(create_user=users.CreateUserResponse(user=ADA))

    response = await console.send(
        "new/users",
        csrf_token=TOKEN,
        form="create",
        **{
            "fields.email": "ada@example.com",
            "fields.groups.names": "staff\r\nfriends",
            "fields.password": "",
        },
    )

    (asked,) = console.asked(users.CreateUserRequest)
    assert (asked.tenant_id, asked.caller.browser.csrf_token, asked.caller.is_read) == ("acme", TOKEN, False)
    assert (asked.fields.email, list(asked.fields.groups.names)) == ("ada@example.com", ["staff", "friends"])
    assert not asked.fields.HasField("password")
    assert (response.status, response.headers["Location"]) == (
        303,
        "/console/acme/identity/users/u1?done=created",
    )


@pytest.mark.parametrize(
    ("error", "status", "path", "sentence"),
    [
        pytest.param(
            InvalidArgument("user_values.phone: expected a plus sign"),
            400,
            "fields.user_values.phone",
            "Telephone: expected a plus sign",
            id="nested",
        ),
        pytest.param(
            AlreadyExists("email: somebody else has it"),
            409,
            "fields.email",
            "Email address: somebody else has it",
            id="taken",
        ),
        pytest.param(
            InvalidArgument("expected less", field="given_name"),
            400,
            "fields.given_name",
            "First name: expected less",
            id="in the metadata",
        ),
    ],
)
async def test_a_refusal_stands_at_its_field_and_the_answers_stay(
    console: Console, error: Exception, status: int, path: str, sentence: str
) -> None:
    console.answers(get_user=users.GetUserResponse(user=ADA), update_user=error)

    response = await console.send(
        "users/u1",
        csrf_token=TOKEN,
        form="change",
        **{"fields.family_name": HOSTILE, "fields.language": "en"},
    )

    page = await read(response, status)
    (field,) = page.xpath("//*[@aria-invalid='true']")
    assert field.get("name") == path
    assert page.xpath(f"//*[@id='{field.get('aria-describedby')}']/text()") == [sentence.partition(": ")[2]]
    assert page.xpath("//*[@id='problem']/text()") == [sentence]
    assert page.xpath("//input[@name='fields.family_name']/@value") == [HOSTILE]
    assert page.xpath("//img[@src='x']") == []


async def test_bounds_of_the_contract_are_told_at_the_field(console: Console) -> None:
    console.answers(get_user=users.GetUserResponse(user=ADA))

    response = await console.send(
        "users/u1",
        csrf_token=TOKEN,
        form="change",
        **{"fields.given_name": "a" * 65, "fields.language": "en"},
    )

    page = await read(response, 400)
    assert page.xpath("//*[@aria-invalid='true']/@name") == ["fields.given_name"]


async def test_a_list_that_the_person_may_not_read_says_so(console: Console) -> None:
    console.answers(list_users=PermissionDenied("the caller may not do this"))

    page = await console.page("users", 403)

    assert page.xpath("//h1/text()") == ["You may not see this"]


async def test_tenants_are_pages_of_the_deployment_alone(console: Console) -> None:
    page = await console.page("tenants", 404)
    other = await console.page("users")

    assert page.xpath("//h1/text()") == ["There is no such page"]
    assert "Tenants" not in other.xpath("//nav[@aria-label='Identity']//a/text()")


async def test_a_secret_is_in_the_one_response_and_not_in_an_address(console: Console) -> None:
    console.answers(
        rotate_client_secret=clients.RotateClientSecretResponse(client_secret="s3cret"),
        get_client=clients.GetClientResponse(client=clients.Client(id="app", confidential=True)),
    )

    response = await console.send("clients/app", csrf_token=TOKEN, form="rotate", cache_current_hours="2")

    page = await read(response)
    (asked,) = console.asked(clients.RotateClientSecretRequest)
    assert (asked.id, asked.cache_current_hours) == ("app", 2)
    assert page.xpath("//*[@id='secret']/text()") == ["s3cret"]
    assert not any("s3cret" in href for href in page.xpath("//@href"))
    assert response.headers["Cache-Control"] == "no-store"


async def test_of_ten_thousand_types_a_page_has_fifty_and_search_and_order_see_all(
    console: Console,
) -> None:
    console.answers(
        list_authorization_details_types=details_types.ListAuthorizationDetailsTypesResponse(
            types=[
                details_types.AuthorizationDetailsType(id=str(number), name=f"app-{number:05}")
                for number in range(10_000)
            ]
        )
    )

    first = await console.page("authorization-details-types")
    last = await console.page("authorization-details-types?sort=name&order=desc&after=50")
    found = await console.page("authorization-details-types?search=APP-0777")

    rows = "//tbody/tr/th/a/text()"
    assert (len(first.xpath(rows)), first.xpath(rows)[0]) == (50, "app-00000")
    assert first.xpath("//a[text()='Next page']/@href") == [
        "/console/acme/identity/authorization-details-types?after=50"
    ]
    assert last.xpath(rows)[0] == "app-09949"
    assert found.xpath(rows) == [f"app-{number:05}" for number in range(7770, 7780)]


@pytest.mark.parametrize(
    "name", ["clients", "groups", "roles", "saml-applications", "scim-applications", "screens", "users"]
)
async def test_lists_that_may_be_long_are_read_page_by_page_and_searched_by_the_service(
    console: Console, name: str
) -> None:
    listing = KINDS[name].listing
    assert listing is not None
    response = policy_named(listing.rpc).response(continuation_token="behind")
    console.answers(**{snake_case(listing.rpc): response})

    page = await console.page(f"{name}?search=ad&order=desc&after=before")

    asked: Any
    (asked,) = console.asked(policy_named(listing.rpc).request)
    assert (asked.search, asked.page_size, asked.continuation_token) == ("ad", 50, "before")
    assert page.xpath("//input[@name='search']/@value") == ["ad"]


async def test_of_more_groups_than_boxes_a_user_gets_those_that_the_administrator_writes(
    console: Console,
) -> None:
    many = [groups.Group(id=str(n), name=f"group-{n}") for n in range(101)]
    console.answers(
        list_groups=groups.ListGroupsResponse(groups=many, continuation_token="more"),
        get_user=users.GetUserResponse(user=ADA),
    )

    page = await console.page("users/u1")

    assert {asked.page_size for asked in console.asked(groups.ListGroupsRequest)} == {101}
    assert page.xpath("//textarea[@name='fields.groups.names']")


async def test_a_trial_of_a_directory_shows_its_answer(console: Console) -> None:
    fields = directories.LdapDirectoryFields(name="Company", urls=["ldaps://ldap.example.com"])
    console.answers(
        list_ldap_directories=directories.ListLdapDirectoriesResponse(
            directories=[directories.LdapDirectory(id="d1", fields=fields)]
        ),
        try_ldap_directory=directories.TryLdapDirectoryResponse(
            servers=[directories.LdapServerTrial(url="ldaps://ldap.example.com", problem="no connection")],
            user=directories.LdapUser(dn="uid=ada,dc=example"),
        ),
    )

    response = await console.send("ldap-directories/d1", csrf_token=TOKEN, form="try", name="ada")

    page = await response.text()
    (asked,) = console.asked(directories.TryLdapDirectoryRequest)
    assert (response.status, asked.directory_id, asked.name) == (200, "d1", "ada")
    assert ("no connection" in page, "uid=ada,dc=example" in page) == (True, True)


async def test_what_a_form_does_not_show_of_a_record_stays(console: Console) -> None:
    mapping = providers.ProviderClaimMapping(claim="role", value="boss", roles=["admin"])
    before = providers.ProviderFields(
        name="Work", type="oidc", token_endpoint_auth_method="none", mappings=[mapping], mfa_claim_path="amr"
    )
    console.answers(
        list_providers=providers.ListProvidersResponse(
            providers=[providers.Provider(id="p1", fields=before)]
        ),
        update_provider=providers.UpdateProviderResponse(provider=providers.Provider(id="p1")),
    )

    response = await console.send(
        "providers/p1",
        csrf_token=TOKEN,
        form="change",
        **{"fields.name": "Office", "fields.type": "oidc", "fields.token_endpoint_auth_method": "none"},
    )

    (asked,) = console.asked(providers.UpdateProviderRequest)
    assert response.status == 303
    assert (asked.provider_id, asked.fields.name, list(asked.fields.mappings)) == ("p1", "Office", [mapping])
    assert asked.fields.mfa_claim_path == ""


async def test_rights_of_an_api_key_are_those_of_its_boxes(console: Console) -> None:
    console.answers(create_api_key=api_keys.CreateApiKeyResponse(api_key="reader$s3cret"))

    response = await console.http.post(
        f"{PAGE}/new/api-keys",
        data=[
            ("csrf_token", TOKEN),
            ("form", "create"),
            ("name", "reader"),
            ("expires", "2031-01-31T12:00"),
            *(("access", right) for right in ("Users:read", "Users:update", "Clients:read")),
        ],
    )

    page = await read(response)
    (asked,) = console.asked(api_keys.CreateApiKeyRequest)
    assert (asked.name, asked.expires) == ("reader", 1_927_627_200)
    assert {each.group: list(each.access_rights) for each in asked.access} == {
        "Users": ["read", "update"],
        "Clients": ["read"],
    }
    assert page.xpath("//*[@id='secret']/text()") == ["reader$s3cret"]
    assert page.xpath("//a[@class='button']/@href") == ["/console/acme/identity/api-keys/reader"]


@pytest.mark.parametrize(
    ("path", "form"),
    [
        pytest.param("users/u1", {"form": "nothing"}, id="unknown form"),
        pytest.param("users/u1", {}, id="no form"),
        pytest.param("sessions", {"form": "create"}, id="form of another page"),
    ],
)
async def test_an_unknown_form_is_refused(console: Console, path: str, form: dict[str, str]) -> None:
    response = await console.send(path, csrf_token=TOKEN, **form)

    assert response.status == 400


@pytest.mark.parametrize(
    "path", ["nothing", "users/a%00b", f"users/{'a' * 257}", "new/sessions", "sessions/s1"]
)
async def test_a_page_that_there_is_not_is_not_found(console: Console, path: str) -> None:
    await console.page(path, 404)


async def test_a_malformed_filter_is_told_at_the_filter(console: Console) -> None:
    page = await console.page("events?from=yesterday", 400)

    assert page.xpath("//*[@aria-invalid='true']/@name") == ["from"]
    assert console.servicers.requests[-1].DESCRIPTOR.name != "ListEventsRequest"


async def test_the_audit_log_is_searched_by_the_filter_of_the_page() -> None:
    entry = audit_log_pb2.AuditLog(
        entity_key=HOSTILE,
        entity_type="PROCESS_INSTANCE",
        actor_id=HOSTILE,
        process_instance_key=42,
        result=audit_entry_pb2.AUDIT_RESULT_SUCCESS,
    )
    async with opened(Mode.BUNDLED) as console:
        console.answers(
            search_audit_logs=audit_log_service_pb2.SearchAuditLogsResponse(
                items=[entry], page=PageResponse(total_items=1)
            )
        )
        query = "actor=ada&result=FAIL&of=JOB&key=&instance=42"
        page = await read(await console.http.get(f"/console/acme/audit?{query}"))
        (asked,) = console.asked(audit_log_service_pb2.SearchAuditLogsRequest)

    assert asked.filter.actor_id.eq == "ada"
    assert asked.filter.entity_type.eq == "JOB"
    assert asked.filter.process_instance_key.eq == 42
    assert not asked.filter.HasField("entity_key")
    assert page.text_content().count(HOSTILE) == 2
    assert page.xpath("//img[@onerror]") == []
    assert page.xpath("//tbody//a/@href") == ["/console/acme/instances/42"]


async def test_a_server_without_an_audit_log_says_so(console: Console) -> None:
    page = await read(await console.http.get("/console/acme/audit"))

    assert "this server keeps none in embedded mode" in page.text_content()
