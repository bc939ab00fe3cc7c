"""Servicer for documents and links to them."""

import hashlib
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import orjson
from google.protobuf.timestamp_pb2 import Timestamp

from gnomon.engine.v1 import document_pb2 as entity_pb
from gnomon.engine.v1 import document_service_pb2 as pb
from server.engine.instants import later
from server.engine.keys import Key
from server.platform.call import Call
from server.platform.clock import Clock
from server.platform.errors import InvalidArgument, NotFound, PayloadTooLarge, ServiceError
from server.rpc.document_links import PATH, Link
from server.store.config import DocumentsConfig
from server.store.stored_documents import DocumentStore, StoredDocument

STORE_ID = "default"
_TYPE = "camunda"
_ANY_BYTES = "application/octet-stream"
_ID_BYTES = 16
_LINK_ID_BYTES = 16
_LINK_KEY_BYTES = 32
_LINK_SECONDS = 3600
_NOTHING = entity_pb.DocumentMetadata()


class DocumentServicer:
    def __init__(
        self,
        documents: DocumentStore,
        config: DocumentsConfig,
        clock: Clock,
        *,
        origin: str,
        random_bytes: Callable[[int], bytes] = secrets.token_bytes,
    ) -> None:
        self._documents = documents
        self._config = config
        self._clock = clock
        self._origin = origin
        self._random_bytes = random_bytes

    async def create_document(
        self, request: pb.CreateDocumentRequest, call: Call
    ) -> pb.CreateDocumentResponse:
        document_id = request.document_id or self._random_bytes(_ID_BYTES).hex()
        document = self._document(document_id, request.file, request.metadata, call.tenant_id)
        await self._documents.add(document, request.file.content, document.created_at)
        return pb.CreateDocumentResponse(document=_reference(document))

    async def create_documents(
        self, request: pb.CreateDocumentsRequest, call: Call
    ) -> pb.CreateDocumentsResponse:
        files, metadata = request.files, request.metadata_list or [_NOTHING] * len(request.files)
        if len(files) > self._config.max_batch:
            raise InvalidArgument(
                f"files: expected at most {self._config.max_batch}, found {len(files)}", field="files"
            )
        if len(metadata) != len(files):
            raise InvalidArgument(
                f"metadataList: expected {len(files)}, one for each file, found {len(metadata)}",
                field="metadataList",
            )
        response = pb.CreateDocumentsResponse()
        for file, about in zip(files, metadata, strict=True):
            alone = pb.CreateDocumentRequest(file=file, metadata=about)
            try:
                created = await self.create_document(alone, call)
            except ServiceError as refusal:
                response.failed_documents.append(_failure(about.file_name or file.name, refusal))
            else:
                response.created_documents.append(created.document)
        return response

    async def get_document(self, request: pb.GetDocumentRequest, call: Call) -> pb.GetDocumentResponse:
        found = await self._documents.read(request.document_id, self._clock.now(), tenant_id=call.tenant_id)
        if found is None:
            raise _not_found(request.document_id)
        document, content = found
        if request.HasField("content_hash"):
            _expect_hash(document, request.content_hash)
        return pb.GetDocumentResponse(
            content=content,
            content_type=document.content_type,
            file_name=document.file_name,
            content_hash=document.content_hash,
        )

    async def delete_document(
        self, request: pb.DeleteDocumentRequest, call: Call
    ) -> pb.DeleteDocumentResponse:
        if not await self._documents.delete(request.document_id, self._clock.now(), tenant_id=call.tenant_id):
            raise _not_found(request.document_id)
        return pb.DeleteDocumentResponse()

    async def create_document_link(
        self, request: pb.CreateDocumentLinkRequest, call: Call
    ) -> pb.CreateDocumentLinkResponse:
        now = self._clock.now()
        seconds = self._seconds(request)
        document = await self._documents.find(request.document_id, now, tenant_id=call.tenant_id)
        if document is None:
            raise _not_found(request.document_id)
        if request.HasField("content_hash"):
            _expect_hash(document, request.content_hash)
        end = later(now, timedelta(seconds=seconds))
        link = Link.to(document, min(end, document.expires_at or end))
        return pb.CreateDocumentLinkResponse(
            url=f"{self._origin}{PATH}{link.token}", expires_at=_timestamp(link.expires_at)
        )

    async def get_linked_document(
        self,
        request: pb.GetLinkedDocumentRequest,
        _: Call,
    ) -> pb.GetLinkedDocumentResponse:
        link, now = Link.read(request.token), self._clock.now()
        if link is None or not link.works(now):
            raise NotFound("there is no such link, or it is no longer valid")
        found = await self._documents.read_linked(link.link_id, now)
        if found is None or not link.is_signed_for(found[0]):
            raise NotFound("there is no such link, or it is no longer valid")
        document, content = found
        return pb.GetLinkedDocumentResponse(
            content=content,
            content_type=document.content_type,
            file_name=document.file_name,
            content_hash=document.content_hash,
        )

    def _seconds(self, request: pb.CreateDocumentLinkRequest) -> float:
        """The lifetime of a link; raises InvalidArgument."""
        if not request.HasField("time_to_live"):
            return min(_LINK_SECONDS, self._config.max_link_seconds)
        most = self._config.max_link_seconds * 1000
        if request.time_to_live > most:
            raise InvalidArgument(
                f"timeToLive: expected at most {most} milliseconds, found {request.time_to_live}",
                field="timeToLive",
            )
        return request.time_to_live / 1000

    def _document(
        self, document_id: str, file: pb.DocumentFile, metadata: entity_pb.DocumentMetadata, tenant_id: str
    ) -> StoredDocument:
        """The document of a request; raises InvalidArgument or PayloadTooLarge."""
        now, size = self._clock.now(), len(file.content)
        if size > self._config.max_bytes:
            raise PayloadTooLarge(
                f"expected a document of at most {self._config.max_bytes} bytes, found {size}"
            )
        if metadata.HasField("size") and metadata.size != size:
            raise InvalidArgument(
                f"metadata.size: expected {size}, the size of the file, found {metadata.size}",
                field="metadata.size",
            )
        is_of_instance = metadata.HasField("process_instance_key")
        is_of_definition = metadata.HasField("process_definition_id")
        return StoredDocument(
            tenant_id=tenant_id,
            document_id=document_id,
            content_type=metadata.content_type or file.content_type or _ANY_BYTES,
            file_name=metadata.file_name or file.name or document_id,
            content_hash=hashlib.sha256(file.content).hexdigest(),
            size=size,
            created_at=now,
            expires_at=_expiry(metadata.expires_at, now) if metadata.HasField("expires_at") else None,
            process_definition_id=metadata.process_definition_id if is_of_definition else None,
            process_instance_key=Key(metadata.process_instance_key) if is_of_instance else None,
            custom_properties=_object(metadata.custom_properties),
            link_id=self._random_bytes(_LINK_ID_BYTES),
            link_key=self._random_bytes(_LINK_KEY_BYTES),
        )


def _expiry(moment: Timestamp, now: datetime) -> datetime:
    name = "metadata.expiresAt"
    try:
        expiry = moment.ToDatetime(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidArgument(f"{name}: expected a date-time of the years 1 to 9999", field=name) from error
    if expiry <= now:
        raise InvalidArgument(
            f"{name}: expected a date-time in the future, found {expiry:%Y-%m-%dT%H:%M:%SZ}", field=name
        )
    return expiry


def _object(text: bytes) -> bytes:
    """The JSON of an object; raises InvalidArgument, because gRPC callers may send anything."""
    name = "metadata.customProperties"
    try:
        is_object = isinstance(orjson.loads(text or b"{}"), dict)
    except orjson.JSONDecodeError as error:
        raise InvalidArgument(f"{name}: expected JSON, found {error.msg}", field=name) from error
    if not is_object:
        raise InvalidArgument(f"{name}: expected an object", field=name)
    return text or b"{}"


def _expect_hash(document: StoredDocument, content_hash: str) -> None:
    if document.content_hash != content_hash:
        detail = f"contentHash: expected {document.content_hash}, which the document has"
        raise InvalidArgument(detail, field="contentHash")


def _failure(file_name: str, refusal: ServiceError) -> pb.DocumentCreationFailureDetail:
    problem = refusal.problem
    return pb.DocumentCreationFailureDetail(
        file_name=file_name, status=problem.status, title=problem.title, detail=refusal.detail
    )


def _not_found(document_id: str) -> NotFound:
    return NotFound(f"there is no document with id {document_id}")


def _reference(document: StoredDocument) -> entity_pb.DocumentReference:
    return entity_pb.DocumentReference(
        camunda_document_type=_TYPE,
        store_id=STORE_ID,
        document_id=document.document_id,
        content_hash=document.content_hash,
        metadata=entity_pb.DocumentMetadataResponse(
            content_type=document.content_type,
            file_name=document.file_name,
            expires_at=_timestamp(document.expires_at),
            size=document.size,
            process_definition_id=document.process_definition_id,
            process_instance_key=document.process_instance_key,
            custom_properties=document.custom_properties,
        ),
    )


def _timestamp(moment: datetime | None) -> Timestamp | None:
    if moment is None:
        return None
    found = Timestamp()
    found.FromDatetime(moment)
    return found
