"""The statement of a batch has an array for a column only if rows of a batch differed in it."""

from server.engine.keys import Key
from server.store.entities import Job
from server.store.ports import Batch, Change, Insert, Update
from server.store.postgres.statement import Statements
from tests.server.store.postgres.ledgers import PARTITION, audit_entry
from tests.server.store.rows import job


def statements() -> Statements:
    return Statements(PARTITION, 1)


def text(of: Statements, *changes: Change) -> str:
    return of.of(Batch(list(changes)), 0).text


def arrays(text: str) -> list[str]:
    """The columns that the functions of the statement return."""
    return [name for part in text.split(" AS r (")[1:] for name in part.partition(")")[0].split(", ")]


def test_one_row_is_passed_with_an_array_of_keys_alone() -> None:
    assert arrays(text(statements(), Insert(job(3, 1)))) == ["job_key"]


def test_columns_of_new_rows_that_differ_are_arrays() -> None:
    found = text(statements(), Insert(job(3, 1)), Insert(job(4, 1, type="ship", element_instance_key=Key(4))))

    assert arrays(found) == ["job_key", "type"]


def test_columns_that_differed_once_stay_arrays_so_that_the_statement_is_planned_once() -> None:
    begun = statements()
    several = text(begun, Insert(job(3, 1)), Insert(job(4, 1, type="ship", element_instance_key=Key(4))))

    assert text(begun, Insert(job(5, 1))) == several


def test_changes_of_one_row_are_passed_with_its_key_and_mask() -> None:
    assert arrays(text(statements(), Update(Job, Key(3), {"retries": 2}))) == ["key", "mask"]


def test_rows_that_keep_a_value_do_not_count_as_differing() -> None:
    changes = (Update(Job, Key(3), {"retries": 2}), Update(Job, Key(4), {"worker": "w"}))

    assert arrays(text(statements(), *changes)) == ["key", "mask"]


def test_changes_that_differ_are_arrays() -> None:
    changes = (Update(Job, Key(3), {"retries": 2}), Update(Job, Key(4), {"retries": 1}))

    assert arrays(text(statements(), *changes)) == ["key", "mask", "retries"]


def test_audit_entries_share_their_values_too() -> None:
    alone = statements().of(Batch(audit=[audit_entry()]), 0).text
    two = statements().of(Batch(audit=[audit_entry(), audit_entry(actor_id="bob")]), 0).text

    assert arrays(alone) == ["audit_entry_key"]
    assert arrays(two) == ["audit_entry_key", "actor_id"]
