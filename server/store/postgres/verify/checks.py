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
    Check("partition-rows", "Every row belongs to an existing partition.", _query(keys.UNKNOWN_PARTITIONS)),
    Check(
        "partition-keys",
        "The key of each row belongs to the partition of the row.",
        _query(keys.OF_OTHER_PARTITIONS),
    ),
    Check("last-keys", "No key is higher than the last key of its partition.", _query(keys.NOT_GIVEN_YET)),
    Check("unique-keys", "No two live rows have the same key.", _query(keys.GIVEN_TWICE)),
    # live process instances
    Check(
        documents.DOCUMENTS,
        "Every document can be read, and belongs to its process instance.",
        by_documents(documents.DOCUMENTS),
    ),
    Check(
        documents.DEFINITIONS,
        "Every live process instance has its definition.",
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
        "Rows of process instances agree with the documents.",
        by_documents("process-instances"),
    ),
    Check(
        "element-instances",
        "Rows of active element instances agree with the documents.",
        by_documents("element-instances"),
    ),
    Check("jobs", "Rows of open jobs agree with the documents.", by_documents("jobs")),
    Check(
        "variables", "Rows of variables in active scopes agree with the documents.", by_documents("variables")
    ),
    Check("incidents", "Rows of open incidents agree with the documents.", by_documents("incidents")),
    Check("user-tasks", "Rows of open user tasks agree with the documents.", by_documents("user-tasks")),
    Check(
        "message-subscriptions",
        "Rows of open message subscriptions agree with the documents.",
        by_documents("message-subscriptions"),
    ),
    Check(
        documents.COUNTS,
        "Tenants have as many active process instances as the quotas count.",
        by_documents(documents.COUNTS),
    ),
    # what has ended
    Check("left-behind", "Every live row has a live process instance.", _query(rows.LEFT_BEHIND)),
    Check(
        "moved",
        f"What ended longer ago than {rows.MOVED_AFTER} is in history, where its partition has an owner.",
        _query(rows.NOT_MOVED),
    ),
    Check("moved-whole", "No row is both live and in history.", _query(keys.LIVE_AND_ENDED)),
    Check("moved-once", "No process instance is in history twice.", _query(rows.ENDED_TWICE)),
    Check(
        "arrivals",
        "Each week of history has the counted number of process instances.",
        _query(rows.NOT_ARRIVED),
    ),
    Check(
        "history-whole",
        "Every row in history has its process instance there, or is being deleted with it.",
        _query(rows.WITHOUT_WHOLE),
    ),
    Check("history", "Every row in history has ended.", _query(rows.NOT_ENDED)),
    # definitions
    Check("definitions", "Every definition can be read by every partition.", packed.definitions),
    Check(
        "definition-rows",
        "Every definition that partitions know can be found, and vice versa.",
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
    Check("outbox", "Commands go from one partition to another existing one.", _query(rows.SENT_NOWHERE)),
    Check("outbox-numbers", "Commands were sent by an existing commit.", _query(rows.SENT_LATER)),
    Check("outbox-commands", "Every pending command can be read.", packed.commands),
    Check(
        "outbox-progress",
        "Partitions with an owner receive the commands that are sent to them.",
        outbox.not_taken,
    ),
    Check("audit-entries", "Audit entries belong to existing commits.", _query(keys.AUDITED_LATER)),
    Check("answers", "Every stored answer for a repeat can be read.", packed.answers),
)
