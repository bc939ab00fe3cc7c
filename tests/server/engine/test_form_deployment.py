from typing import cast

import pytest

from server.engine import State, process
from server.engine.answers import DeployedForm, Deployment
from server.engine.deployment_commands import (
    AdoptDefinition,
    AdoptDeletion,
    DeleteResource,
    DeployResources,
    FormFile,
)
from server.engine.form_events import FormAdopted, FormDeployed
from server.engine.formats import ClusterFormat
from server.engine.keys import Key
from server.engine.rejection import RejectionType
from server.store.entities import Form
from tests.durable import EPOCH
from tests.server.engine.form_files import form
from tests.server.engine.scenario import Scenario

ONE, TWO = form(title="one"), form(title="two")


def deployed(engine: Scenario, *files: FormFile) -> tuple[DeployedForm, ...]:
    answer = cast("Deployment", engine.execute(DeployResources(engine.tenant_id, (), (), files)))
    return answer.forms


def latest(engine: Scenario) -> dict[str, int]:
    """Versions of the forms that rows call the latest."""
    return {row.form_id: row.version for row in engine.rows.all(Form) if row.is_latest_version}


def test_a_form_is_deployed_with_its_schema(engine: Scenario) -> None:
    (found,) = deployed(engine, form(tag="stable"))

    assert (found.form_id, found.version, found.resource_name) == ("address", 1, "address.form")
    row = engine.rows.get(Form, found.key)
    assert (row.form_id, row.version, row.version_tag) == ("address", 1, "stable")
    assert row.schema == form(tag="stable").schema


def test_partitions_keep_no_schema(engine: Scenario) -> None:
    (found,) = deployed(engine, ONE)

    assert engine.state.forms.files[found.key].schema == ""


def test_changed_content_is_a_new_version(engine: Scenario) -> None:
    deployed(engine, ONE)

    (second,) = deployed(engine, TWO)

    assert second.version == 2
    assert latest(engine) == {"address": 2}


def test_unchanged_content_keeps_its_version(engine: Scenario) -> None:
    first = deployed(engine, ONE)

    assert deployed(engine, ONE) == first
    assert len(engine.rows.all(Form)) == 1


def test_unchanged_content_under_another_name_is_a_new_version(engine: Scenario) -> None:
    deployed(engine, ONE)

    (again,) = deployed(engine, form(title="one", name="other.form"))

    assert (again.version, again.resource_name) == (2, "other.form")


def test_versions_are_counted_for_each_form_and_tenant(engine: Scenario) -> None:
    deployed(engine, ONE)
    own = deployed(engine, TWO, form("payment"))
    engine.tenant_id = "other"

    foreign = deployed(engine, TWO)

    assert [each.version for each in (*own, *foreign)] == [2, 1, 1]


def test_the_version_before_takes_the_place_of_a_deleted_one(engine: Scenario) -> None:
    deployed(engine, ONE)
    (second,) = deployed(engine, TWO)

    engine.execute(DeleteResource("default", second.key))

    known = engine.state.forms.latest("default", "address")
    assert known is not None
    assert known.version == 1
    assert latest(engine) == {"address": 1}
    row = engine.rows.get(Form, second.key)
    assert (row.is_deleted, row.schema) == (True, TWO.schema)


def test_the_latest_version_stays_when_another_one_is_deleted(engine: Scenario) -> None:
    (first,) = deployed(engine, ONE)
    deployed(engine, TWO)

    engine.execute(DeleteResource("default", first.key))

    assert latest(engine) == {"address": 2}


def test_numbers_are_not_used_again(engine: Scenario) -> None:
    (first,) = deployed(engine, ONE)
    engine.execute(DeleteResource("default", first.key))

    (again,) = deployed(engine, ONE)

    assert again.version == 2


def test_a_deleted_form_and_that_of_another_tenant_are_not_found(engine: Scenario) -> None:
    (found,) = deployed(engine, ONE)

    foreign = engine.refusal(DeleteResource("other", found.key))
    engine.execute(DeleteResource("default", found.key))
    gone = engine.refusal(DeleteResource("default", found.key))

    assert [foreign.type, gone.type] == [RejectionType.NOT_FOUND] * 2


def test_a_form_is_adopted_and_deleted_once(engine: Scenario) -> None:
    deployed(engine, ONE)
    (event,) = (each for each in engine.events if isinstance(each, FormDeployed))
    other = State(2)

    adopted = [process(other, AdoptDefinition(event.known), EPOCH).events for _ in range(2)]
    known = other.forms.latest("default", "address")
    deleted = [process(other, AdoptDeletion("default", event.key), EPOCH).events for _ in range(2)]

    assert adopted == [[FormAdopted(event.known)], []]
    assert known == event.known
    assert [len(each) for each in deleted] == [1, 0]
    assert other.forms.latest("default", "address") is None


def test_a_form_waits_for_nodes_that_do_not_know_forms(engine: Scenario) -> None:
    engine.state.format = ClusterFormat(1, laggard="old")

    refused = engine.refusal(DeployResources("default", (), (), (ONE,)))

    assert refused.type is RejectionType.INVALID_STATE
    assert "form address needs all nodes at format 2" in refused.reason


@pytest.mark.parametrize("file", [form(title="two", tag="stable"), form("payment")])
def test_a_form_that_is_let_go_leaves_what_was_before(file: FormFile) -> None:
    before, engine = Scenario(), Scenario()
    for each in (before, engine):
        deployed(each, form(tag="stable"))
    known = engine.state.forms
    deployed(engine, file)
    newest = known.files[Key(max(known.files))]

    known.undefine(newest, before.state.forms.number_of(newest))

    assert before.state.forms == known
