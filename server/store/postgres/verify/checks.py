"""All checks: name, invariant, and search for violations."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from server.store.postgres.verify import documents, keys, outbox, packed, rows
from server.store.postgres.verify.documents import by_documents
from server.store.postgres.verify.findings import Findings
from server.store.postgres.verify.snapshot import Snapshot

Search = Callable[[Snapshot], Awaitable[Findings]]


@dataclass(frozen=True, slots=True)
class Check:
    """`says` is the invariant, as a sentence that is true of a correct database."""

    name: str
    says: str
    search: Search


def _query(text: str) -> Search:
    async def search(snapshot: Snapshot) -> Findings:
        return await snapshot.found(text)

    return search


CHECKS = (
    # partitions and keys
    Check("partitions", "Partitions are numbered from 1 without a gap.", _query(rows.GAPS)),
    Check("partition-rows", "Every row is a partition's that there is.", _query(keys.UNKNOWN_PARTITIONS)),
    Check("partition-keys", "The key of a row is of the row's partition.", _query(keys.OF_OTHER_PARTITIONS)),
    Check("last-keys", "No key is higher than the last that its partition gave.", _query(keys.NOT_GIVEN_YET)),
    Check("unique-keys", "No two live rows have one key.", _query(keys.GIVEN_TWICE)),
    # live process instances
    Check(
        documents.DOCUMENTS,
        "Every document can be read, and is its process instance's.",
        by_documents(documents.DOCUMENTS),
    ),
    Check(
        documents.DEFINITIONS,
        "The definition of every live process instance is there.",
        by_documents(documents.DEFINITIONS),
    ),
    Check(
        "document-rows",
        "Every document has a row of an active process instance.",
        _query(rows.DOCUMENTS_WITHOUT_ROWS),
    ),
    Check(
        "row-documents", "Every active process instance has a document.", _query(rows.ROWS_WITHOUT_DOCUMENTS)
    ),
    Check(
        "process-instances",
        "Rows of process instances say what documents say.",
        by_documents("process-instances"),
    ),
    Check(
        "element-instances",
        "Rows of active element instances say what documents say.",
        by_documents("element-instances"),
    ),
    Check("jobs", "Rows of open jobs say what documents say.", by_documents("jobs")),
    Check("variables", "Rows of variables in reach say what documents say.", by_documents("variables")),
    Check("incidents", "Rows of open incidents say what documents say.", by_documents("incidents")),
    Check("user-tasks", "Rows of open user tasks say what documents say.", by_documents("user-tasks")),
    Check(
        "message-subscriptions",
        "Rows of open message subscriptions say what documents say.",
        by_documents("message-subscriptions"),
    ),
    Check(
        documents.COUNTS,
        "Tenants have as many active process instances as is counted for quotas.",
        by_documents(documents.COUNTS),
    ),
    # what has ended
    Check("left-behind", "Every live row has its process instance beside it.", _query(rows.LEFT_BEHIND)),
    Check(
        "moved",
        f"What ended longer ago than {rows.MOVED_AFTER} is in history, where its partition has an owner.",
        _query(rows.NOT_MOVED),
    ),
    Check("moved-whole", "Nothing is live and in history too.", _query(keys.LIVE_AND_ENDED)),
    Check("moved-once", "No process instance is in history twice.", _query(rows.ENDED_TWICE)),
    Check(
        "arrivals",
        "Weeks of history have as many process instances as were counted when they came.",
        _query(rows.NOT_ARRIVED),
    ),
    Check(
        "history-whole",
        "Everything in history has its process instance there, or is being deleted with it.",
        _query(rows.WITHOUT_WHOLE),
    ),
    Check("history", "Everything in history has ended.", _query(rows.NOT_ENDED)),
    # definitions
    Check("definitions", "Every definition can be read by every partition.", packed.definitions),
    Check(
        "definition-rows",
        "Every definition that partitions know can be found, and the other way round.",
        _query(rows.DEFINITIONS_WITHOUT_ROWS),
    ),
    Check(
        "latest-versions",
        "The highest version of a process or a decision is its latest.",
        _query(rows.NOT_THE_LATEST),
    ),
    Check(
        "batch-operations",
        "Every unfinished batch operation has a document, and every document of one has a row.",
        _query(rows.UNFINISHED_BATCHES),
    ),
    # what goes from partition to partition, what is kept of commands
    Check("outbox", "Commands go from one partition to another that there is.", _query(rows.SENT_NOWHERE)),
    Check("outbox-numbers", "Commands were sent by a commit that there was.", _query(rows.SENT_LATER)),
    Check("outbox-commands", "Every command on its way can be read.", packed.commands),
    Check("outbox-progress", "Partitions that have an owner take what is sent to them.", outbox.not_taken),
    Check("audit-entries", "Audit entries are of commits that there were.", _query(keys.AUDITED_LATER)),
    Check("answers", "Every answer kept for a repeat can be read.", packed.answers),
)
