"""Documents over every channel, in every mode."""

import hashlib
import re
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from server.platform.errors import AlreadyExists, InvalidArgument, NotFound, PayloadTooLarge, PermissionDenied
from tests.server.rpc.caller import Caller
from tests.server.rpc.engines import Time

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
