"""History, the console's reads and the work of people."""

import json

import pytest

from gnomon.engine.v1 import console_service_pb2 as console
from gnomon.engine.v1 import history_service_pb2 as history
from server.bpmn.builder import process
from server.lint.catalogue import RULES, etag
from server.platform.errors import InvalidArgument, NotFound, PermissionDenied
from tests.server.engine.form_files import form_json
from tests.server.rpc.caller import Caller
from tests.server.rpc.durable.deployment import MIDNIGHT, SECOND, Durable, stamp

ORDER = process("order", name="Order", version_tag="v1").service_task("charge", type="charge").end()


async def test_history_is_searched_like_what_is_alive(caller: Caller) -> None:
    await caller.deploy(ORDER)
    first, second = await caller.start("order"), await caller.start("order")
    await caller("AcceptCancellation", process_instance_key=first)

    both = await caller(
        "SearchHistoricProcessInstances",
        sort=[{"field": "processInstanceKey", "order": 2}],
        page={"limit": 1},
    )
    ended = await caller("SearchHistoricProcessInstances", filter={"state": {"eq": 3}})

    assert ([item.process_instance_key for item in both.items], both.page.total_items) == ([second], 2)
    assert [item.process_instance_key for item in ended.items] == [first]


async def test_the_instances_of_each_flow_node_are_counted(caller: Caller) -> None:
    key = await caller.deploy(ORDER)
    for _ in range(3):
        await caller.start("order")
    done, failed = await caller.activate("charge", most=2)
    await caller("CompleteJob", job_key=done.job_key)
    await caller("FailJob", job_key=failed.job_key)

    found = await caller("GetFlowNodeStatistics", process_definition_key=key)

    assert list(found.flow_nodes) == [
        history.FlowNodeStatistics(element_id="charge", active=2, completed=1, incidents=1),
        history.FlowNodeStatistics(element_id="end", completed=1),
        history.FlowNodeStatistics(element_id="start", completed=3),
    ]


async def test_every_version_says_when_it_was_first_deployed(service: Durable) -> None:
    caller = service.caller
    first = await caller.deploy(ORDER)
    service.clock.advance(SECOND)
    await caller.deploy(ORDER)
    second = await caller.deploy(process("order").end())
    other = await caller.deploy(process("invoice").end())

    found = await caller("GetConsoleDeployments")

    invoice, order = found.process_definitions
    assert [invoice.process_definition_id, order.process_definition_id] == ["invoice", "order"]
    assert [version.process_definition_key for version in invoice.versions] == [other]
    deployment_key = order.versions[0].deployment_key
    assert order.versions[0] == console.ConsoleProcessVersion(
        process_definition_key=first,
        version=1,
        version_tag="v1",
        name="Order",
        resource_name="process.bpmn",
        deployment_key=deployment_key,
        deployment_time=stamp(MIDNIGHT),
    )
    assert deployment_key < first
    assert (order.versions[1].process_definition_key, order.versions[1].version) == (second, 2)
    assert order.versions[1].deployment_time == stamp(MIDNIGHT + SECOND)


async def test_more_versions_than_one_read_brings_are_all_there(caller: Caller) -> None:
    for number in range(101):
        await caller.deploy(process(f"p{number:03}").end())

    found = await caller("GetConsoleDeployments")

    assert [f"p{number:03}" for number in range(101)] == [
        definition.process_definition_id for definition in found.process_definitions
    ]


async def test_the_forms_alone_can_be_asked_for(caller: Caller) -> None:
    await caller.deploy(ORDER)

    assert await caller("GetConsoleDeployments", part="forms") == console.GetConsoleDeploymentsResponse()
    with pytest.raises(InvalidArgument):
        await caller("GetConsoleDeployments", part="processes")


async def test_the_rules_are_those_that_deployments_are_held_to(caller: Caller) -> None:
    found = await caller("GetLintRules")

    assert [rule.id for rule in RULES] == [rule.id for rule in found.rules]
    assert (found.profile, found.etag) == ("camunda-8.9", etag())
    (count,) = [rule for rule in found.rules if rule.id == "task-definition"]
    assert count == console.LintRule(
        id="task-definition",
        severity="error",
        applies_to=["bpmn:ServiceTask"],
        message="A service task needs a job type",
        family="bpmn",
        static=True,
        evaluator="count",
        options=console.LintOptions(
            attribute=["zeebe:taskDefinition"], bounds=console.LintBounds(min=1, max=1)
        ),
    )
    (length,) = [rule for rule in found.rules if rule.id == "job-type-length"]
    assert (length.options.bounds.HasField("min"), length.options.bounds.max) == (False, 255)
    assert not next(rule for rule in found.rules if rule.id == "job-type").options.HasField("bounds")


async def test_the_rules_are_the_same_for_every_tenant(caller: Caller) -> None:
    assert await caller("GetLintRules") == await caller.signed_in_as("stranger")("GetLintRules")


async def test_a_process_without_a_start_form_has_none(caller: Caller) -> None:
    key = await caller.deploy(ORDER)

    assert not (await caller("GetStartForm", process_definition_key=key)).HasField("form")


async def test_the_console_shows_the_newest_version_of_a_start_form(caller: Caller) -> None:
    await deployed_form(caller, form_json(title="one"))
    newest = await deployed_form(caller, form_json(title="two"))
    key = await caller.deploy(process("asked").start(form="address").end())

    answer = await caller("GetStartForm", process_definition_key=key)

    assert json.loads(answer.form) == {
        "tenantId": "default",
        "formId": "address",
        "schema": form_json(title="two").decode(),
        "version": 2,
        "formKey": str(newest),
    }


async def test_the_start_form_of_a_deleted_process_is_not_there(caller: Caller) -> None:
    await deployed_form(caller, form_json())
    key = await caller.deploy(process("asked").start(form="address").end())

    await caller("DeleteResource", resource_key=key)

    with pytest.raises(NotFound):
        await caller("GetStartForm", process_definition_key=key)


async def test_the_console_lists_the_forms_that_are_not_deleted(caller: Caller) -> None:
    await caller.deploy(ORDER)
    first = await deployed_form(caller, form_json())
    second = await deployed_form(caller, form_json("payment"))
    await caller("DeleteResource", resource_key=first)

    every = await caller("GetConsoleDeployments")
    forms = await caller("GetConsoleDeployments", part="forms")

    shown = console.ConsoleForm(form_key=second, form_id="payment", version=1, resource_name="a.form")
    assert (list(every.forms), list(forms.forms)) == ([shown], [shown])
    assert (len(every.process_definitions), len(forms.process_definitions)) == (1, 0)


async def deployed_form(caller: Caller, content: bytes) -> int:
    answer = await caller("CreateDeployment", resources=[{"name": "a.form", "content": content}])
    return int(answer.deployments[0].form.form_key)


@pytest.mark.parametrize("rpc", ["GetStartForm", "GetFlowNodeStatistics"])
async def test_another_tenants_definition_is_not_there(caller: Caller, rpc: str) -> None:
    key = await caller.deploy(ORDER)

    for who, wanted in ((caller, 42), (caller.signed_in_as("stranger"), key)):
        with pytest.raises(NotFound):
            await who(rpc, process_definition_key=wanted)


async def test_the_work_of_people_is_listed_page_by_page(caller: Caller) -> None:
    await caller.deploy(process("review").user_task("check", assignment={"candidateGroups": "a,b"}).end())
    for _ in range(3):
        await caller.start("review")
    wanted = {"candidate_group": "b", "state": "CREATED", "bpmn_process_id": "review", "page_size": 2}

    first = await caller("ListUserTasks", **wanted)
    rest = await caller("ListUserTasks", **wanted, cursor=first.cursor)
    end = await caller("ListUserTasks", **wanted, cursor=rest.cursor)

    assert [len(page.user_tasks) for page in (first, rest, end)] == [2, 1, 0]
    assert not end.HasField("cursor")


@pytest.mark.parametrize(
    "fields", [{"assignee": "a"}, {"candidate_user": "a"}, {"state": "COMPLETED"}, {"candidate_group": "c"}]
)
async def test_work_that_is_not_wanted_is_left_out(caller: Caller, fields: dict[str, object]) -> None:
    await caller.deploy(process("review").user_task("check", assignment={"candidateGroups": "a,b"}).end())
    await caller.start("review")

    found = await caller("ListUserTasks", **fields)

    assert list(found.user_tasks) == []


@pytest.mark.parametrize(
    "fields", [{"page_size": 0}, {"page_size": 501}, {"process_instance_key": -1}], ids=str
)
async def test_malformed_questions_for_work_are_refused(caller: Caller, fields: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument):
        await caller("ListUserTasks", **fields)


@pytest.mark.parametrize("rpc", ["GetConsoleDeployments", "GetLintRules"])
async def test_the_consoles_reads_need_their_permissions(caller: Caller, rpc: str) -> None:
    with pytest.raises(PermissionDenied):
        await caller.signed_in_as("reader")(rpc)
