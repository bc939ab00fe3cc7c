import pytest

from server.engine.journal import Journal
from server.engine.keys import Key
from server.engine.pages import Kind

OLD, NEW, NEWER = Key(1), Key(2), Key(3)


@pytest.fixture
def documents() -> dict[Key, int]:
    return {OLD: 10}


@pytest.fixture
def journal() -> Journal:
    journal = Journal()
    journal.open(lambda: None)
    return journal


def make(journal: Journal, documents: dict[Key, int], key: Key) -> None:
    journal.make(Kind.PROCESS_INSTANCE, key, documents.pop, whole=None)
    documents[key] = 0


def change(journal: Journal, documents: dict[Key, int], key: Key) -> None:
    journal.enter(Kind.PROCESS_INSTANCE, key)
    journal.put(documents, key, documents[key] + 1)


def test_a_document_that_was_there_gets_its_value_back_after_another_was_made(
    journal: Journal, documents: dict[Key, int]
) -> None:
    change(journal, documents, OLD)
    make(journal, documents, NEW)
    change(journal, documents, NEW)
    change(journal, documents, OLD)

    journal.roll_back()

    assert documents == {OLD: 10}


def test_documents_that_one_command_makes_go_all_together(
    journal: Journal, documents: dict[Key, int]
) -> None:
    make(journal, documents, NEW)
    make(journal, documents, NEWER)
    change(journal, documents, NEW)

    journal.roll_back()

    assert documents == {OLD: 10}


def test_a_document_of_an_earlier_command_is_no_new_one(journal: Journal, documents: dict[Key, int]) -> None:
    make(journal, documents, NEW)
    journal.close()
    journal.open(lambda: None)
    change(journal, documents, NEW)

    journal.roll_back()

    assert documents == {OLD: 10, NEW: 0}


def test_a_return_to_a_savepoint_leaves_nothing_for_a_later_roll_back(documents: dict[Key, int]) -> None:
    journal = Journal()
    journal.open(lambda: None, is_thorough=True)
    savepoint = journal.savepoint()
    journal.make(Kind.PROCESS_INSTANCE, NEW, lambda key: journal.drop(documents, key), whole=None)
    documents[NEW] = 0

    journal.return_to(savepoint)
    journal.roll_back()

    assert documents == {OLD: 10}
