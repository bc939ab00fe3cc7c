"""Documents over every channel, in every mode."""

import hashlib
import re
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from server.engine.instants import LAST_INSTANT
from server.platform.errors import AlreadyExists, InvalidArgument, NotFound, PayloadTooLarge, PermissionDenied
from tests.server.rpc.caller import Caller
from tests.server.rpc.engines import MILLISECOND, UNIX_EPOCH, Time

CONTENT = b"%PDF-1.7 \x00\xff"
HASH = hashlib.sha256(CONTENT).hexdigest()
DAY = 86_400_000


async def create(caller: Caller, content: bytes = CONTENT, **request: Any) -> Any:
    file = {"name": "order.pdf", "content": content, "content_type": "application/pdf"}
    answer = await caller("CreateDocument", **{"file": file, **request})
    return answer.document


async def test_a_document_is_read_with_its_type_and_its_name(caller: Caller) -> None:
    reference = await create(caller)

    found = await caller("GetDocument", document_id=reference.document_id, content_hash=HASH)

    assert re.fullmatch("[0-9a-f]{32}", reference.document_id)
    assert (reference.camunda_document_type, reference.store_id) == ("camunda", "default")
    assert (reference.content_hash, reference.metadata.size) == (HASH, len(CONTENT))
    assert (found.content, found.content_hash) == (CONTENT, HASH)
    assert (found.content_type, found.file_name) == ("application/pdf", "order.pdf")


async def test_what_is_said_about_a_document_is_kept(caller: Caller, time: Time) -> None:
    await time.pin(0)
    metadata = {
        "content_type": "text/csv; charset=utf-8",
        "file_name": "ünï/../b.csv",
        "expires_at": Timestamp(seconds=60),
        "size": len(CONTENT),
        "process_definition_id": "order",
        "process_instance_key": 7,
        "custom_properties": b'{"a": [1]}',
    }

    reference = await create(caller, document_id="mine", metadata=metadata)

    kept = reference.metadata
    assert reference.document_id == "mine"
    assert (kept.content_type, kept.file_name) == ("text/csv; charset=utf-8", "ünï/../b.csv")
    assert (kept.expires_at.seconds, kept.process_definition_id, kept.process_instance_key) == (
        60,
        "order",
        7,
    )
    assert kept.custom_properties == b'{"a": [1]}'


async def test_a_file_without_name_and_type_is_called_by_its_id(caller: Caller) -> None:
    reference = await create(caller, file={"content": b""}, document_id="empty")

    assert reference.metadata.file_name == "empty"
    assert reference.metadata.content_type == "application/octet-stream"
    assert reference.metadata.size == 0
    assert not reference.metadata.HasField("process_instance_key")


async def test_an_id_is_given_once(caller: Caller) -> None:
    await create(caller, document_id="mine")

    with pytest.raises(AlreadyExists, match="mine"):
        await create(caller, b"other", document_id="mine")

    assert (await caller("GetDocument", document_id="mine")).content == CONTENT


async def test_a_deleted_document_is_gone(caller: Caller) -> None:
    await create(caller, document_id="mine")

    await caller("DeleteDocument", document_id="mine")

    for rpc in ("GetDocument", "DeleteDocument"):
        with pytest.raises(NotFound, match="mine"):
            await caller(rpc, document_id="mine")


async def test_an_expired_document_is_gone(caller: Caller, time: Time) -> None:
    await time.pin(DAY)
    await create(caller, document_id="mine", metadata={"expires_at": Timestamp(seconds=2 * DAY // 1000)})

    await time.pin(2 * DAY)

    with pytest.raises(NotFound):
        await caller("GetDocument", document_id="mine")
    await create(caller, document_id="mine")


async def test_another_hash_is_refused(caller: Caller) -> None:
    await create(caller, document_id="mine")

    with pytest.raises(InvalidArgument, match=f"contentHash: expected {HASH}"):
        await caller("GetDocument", document_id="mine", content_hash="0" * 64)


async def test_documents_of_another_tenant_are_not_found(caller: Caller) -> None:
    await create(caller, document_id="mine")
    stranger = caller.signed_in_as("stranger")

    for rpc in ("GetDocument", "DeleteDocument"):
        with pytest.raises(NotFound):
            await stranger(rpc, document_id="mine")
    await create(stranger, b"other", document_id="mine")

    assert (await caller("GetDocument", document_id="mine")).content == CONTENT


async def test_documents_have_permissions_of_their_own(caller: Caller) -> None:
    reader = caller.signed_in_as("reader")

    with pytest.raises(PermissionDenied, match="document:write"):
        await create(reader)
    with pytest.raises(PermissionDenied, match="document:read"):
        await reader("GetDocument", document_id="mine")


PAST = {"expires_at": Timestamp(seconds=-1)}


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"document_id": "../etc/passwd"}, "documentId"),
        ({"document_id": ".."}, "documentId"),
        ({"document_id": ""}, "documentId"),
        ({"document_id": "a" * 201}, "documentId"),
        ({"document_id": "a\n"}, "documentId"),
        ({"store_id": "aws"}, "storeId"),
        ({"metadata": {"content_type": "text"}}, "metadata.contentType"),
        ({"metadata": {"content_type": "text/html\n"}}, "metadata.contentType"),
        ({"metadata": {"content_type": "text/html;\r\nSet-Cookie: a=b"}}, "metadata.contentType"),
        ({"metadata": {"file_name": "a\r\nb"}}, "metadata.fileName"),
        ({"metadata": {"size": 3}}, "metadata.size: expected 11"),
        ({"metadata": PAST}, "metadata.expiresAt: expected a date-time in the future"),
        ({"metadata": {"expires_at": Timestamp(seconds=2**60)}}, "metadata.expiresAt"),
        ({"metadata": {"process_definition_id": "\0"}}, "metadata.processDefinitionId"),
        ({"metadata": {"process_instance_key": 0}}, "metadata.processInstanceKey"),
        ({"metadata": {"custom_properties": b"[]"}}, "metadata.customProperties: expected an object"),
        ({"metadata": {"custom_properties": b"{"}}, "metadata.customProperties: expected JSON"),
        ({"metadata": {"custom_properties": b'{"a":"' + b"a" * 16_400 + b'"}'}}, "metadata.customProperties"),
        ({"file": {"content": b"a", "content_type": "a b"}}, "file.contentType"),
        ({"file": {"content": b"a", "name": "\x07"}}, "file.name"),
        ({"file": None}, "file"),
    ],
)
async def test_a_bad_request_is_refused_with_the_name_of_the_field(
    caller: Caller, time: Time, request_: dict[str, Any], message: str
) -> None:
    await time.pin(0)

    with pytest.raises(InvalidArgument, match=re.escape(message)):
        await create(caller, **request_)


async def test_a_document_of_the_greatest_size_passes_every_channel(caller: Caller) -> None:
    content = bytes(4000 * 1024)

    await create(caller, content, document_id="great")

    assert (await caller("GetDocument", document_id="great")).content == content
    with pytest.raises(PayloadTooLarge, match="4096000 bytes, found 4096001"):
        await create(caller, content + b"a")


def file(content: bytes, name: str = "") -> dict[str, object]:
    return {"content": content, "name": name}


async def test_several_documents_are_created_in_their_order(caller: Caller) -> None:
    about = [{"file_name": "a.txt"}, {"custom_properties": b'{"b": 2}'}]

    answer = await caller("CreateDocuments", files=[file(b"one"), file(b"two", "b.txt")], metadata_list=about)

    assert list(answer.failed_documents) == []
    first, second = answer.created_documents
    assert (first.metadata.file_name, second.metadata.file_name) == ("a.txt", "b.txt")
    assert second.metadata.custom_properties == b'{"b": 2}'
    assert (await caller("GetDocument", document_id=second.document_id)).content == b"two"


async def test_documents_that_fail_are_named_and_the_others_are_created(caller: Caller) -> None:
    about = [{}, {"size": 7}, {}]

    answer = await caller(
        "CreateDocuments", files=[file(b"one"), file(b"two", "b"), file(b"three", "c")], metadata_list=about
    )

    (failed,) = answer.failed_documents
    assert [created.metadata.size for created in answer.created_documents] == [3, 5]
    assert (failed.file_name, failed.status, failed.title) == ("b", 400, "INVALID_ARGUMENT")
    assert failed.detail == "metadata.size: expected 3, the size of the file, found 7"


async def test_each_document_has_its_metadata_or_none_has(caller: Caller) -> None:
    with pytest.raises(InvalidArgument, match="metadataList: expected 2, one for each file, found 1"):
        await caller("CreateDocuments", files=[file(b"one"), file(b"two")], metadata_list=[{}])
    with pytest.raises(InvalidArgument, match="files"):
        await caller("CreateDocuments", files=[file(b"")] * 101)


async def linked(caller: Caller, **request: Any) -> str:
    answer = await caller("CreateDocumentLink", document_id="mine", **request)
    address, _, token = answer.url.rpartition("/")
    assert address == "http://localhost:8080/v2/document-links"
    return str(token)


async def test_a_link_leads_to_the_document_without_a_credential(caller: Caller) -> None:
    await create(caller, document_id="mine")
    token = await linked(caller, content_hash=HASH)

    found = await caller.signed_in_as("nobody")("GetLinkedDocument", token=token)

    assert (found.content, found.content_hash) == (CONTENT, HASH)
    assert (found.content_type, found.file_name) == ("application/pdf", "order.pdf")


async def test_a_link_works_for_its_time(caller: Caller, time: Time) -> None:
    await time.pin(DAY)
    await create(caller, document_id="mine")
    hour, minute = await linked(caller), await linked(caller, time_to_live=60_000)

    await time.pin(DAY + 59_999)
    await caller("GetLinkedDocument", token=minute)
    await time.pin(DAY + 60_000)
    with pytest.raises(NotFound, match="no such link"):
        await caller("GetLinkedDocument", token=minute)
    await caller("GetLinkedDocument", token=hour)
    await time.pin(DAY + 3_600_000)
    with pytest.raises(NotFound, match="no such link"):
        await caller("GetLinkedDocument", token=hour)


async def test_a_link_works_until_the_end_of_time_at_most(caller: Caller, time: Time) -> None:
    last = (LAST_INSTANT - UNIX_EPOCH) // MILLISECOND
    await time.pin(last)
    await create(caller, document_id="mine")

    answer = await caller("CreateDocumentLink", document_id="mine", time_to_live=60_000)

    assert answer.expires_at.ToMilliseconds() == last


async def test_a_link_ends_with_its_document(caller: Caller, time: Time) -> None:
    await time.pin(DAY)
    seconds = DAY // 1000
    await create(caller, document_id="mine", metadata={"expires_at": Timestamp(seconds=seconds + 1)})
    answer = await caller("CreateDocumentLink", document_id="mine", time_to_live=60_000)
    await caller("DeleteDocument", document_id="mine")
    await create(caller, b"another", document_id="mine")

    with pytest.raises(NotFound, match="no such link"):
        await caller("GetLinkedDocument", token=answer.url.rpartition("/")[2])

    assert answer.expires_at.seconds == seconds + 1


async def test_a_link_that_was_changed_leads_nowhere(caller: Caller) -> None:
    await create(caller, document_id="mine")
    token = await linked(caller)

    refusals = set()
    for place in range(0, len(token), 3):
        changed = token[:place] + ("A" if token[place] != "A" else "B") + token[place + 1 :]
        with pytest.raises(NotFound) as caught:
            await caller("GetLinkedDocument", token=changed)
        refusals.add(caught.value.detail)
    for wrong in ("x", token[:-1], token + "A", "\u00fc" * 75, "=" * 75):
        with pytest.raises(NotFound) as caught:
            await caller("GetLinkedDocument", token=wrong)
        refusals.add(caught.value.detail)

    assert refusals == {"there is no such link, or it is no longer valid"}


async def test_a_link_to_what_the_caller_may_not_read_is_refused(caller: Caller) -> None:
    await create(caller, document_id="mine")

    with pytest.raises(NotFound):
        await caller.signed_in_as("stranger")("CreateDocumentLink", document_id="mine")
    with pytest.raises(PermissionDenied, match="document:read"):
        await caller.signed_in_as("reader")("CreateDocumentLink", document_id="mine")
    with pytest.raises(InvalidArgument, match="contentHash"):
        await caller("CreateDocumentLink", document_id="mine", content_hash="0")
    for milliseconds in (0, -1, 604_800_001, 2**63 - 1):
        with pytest.raises(InvalidArgument, match="timeToLive"):
            await caller("CreateDocumentLink", document_id="mine", time_to_live=milliseconds)
