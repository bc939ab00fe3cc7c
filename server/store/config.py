"""[documents]: bounds of the documents that tenants store."""

from dataclasses import dataclass

_KIB = 1024
_MIB = 1024 * _KIB
# A document and its metadata travel in one message, and gRPC clients accept 4 MiB by default.
_MOST_KIB = 4000
_MOST_IN_BATCH = 100


@dataclass(frozen=True, slots=True)
class DocumentsConfig:
    """[documents]: files that processes and workers refer to.

    A document has at most `max_kib` KiB, up to 4000. Over HTTP it must fit into `edge.max_body_bytes`
    together with its form. One call creates at most `max_batch` documents. A tenant has at most
    `max_tenant_documents` documents and `max_tenant_mib` MiB in total. A link to a document is valid for at
    most `max_link_seconds`.
    """

    max_kib: int = _MOST_KIB
    max_batch: int = _MOST_IN_BATCH
    max_tenant_documents: int = 100_000
    max_tenant_mib: int = 1024
    max_link_seconds: int = 604_800

    def __post_init__(self) -> None:
        for name, most in (("max_kib", _MOST_KIB), ("max_batch", _MOST_IN_BATCH)):
            if not 1 <= getattr(self, name) <= most:
                raise ValueError(f"documents.{name}: expected 1 to {most}, found {getattr(self, name)}")
        for name in ("max_tenant_documents", "max_link_seconds"):
            if getattr(self, name) < 1:
                raise ValueError(f"documents.{name}: expected 1 at least, found {getattr(self, name)}")
        if self.max_tenant_bytes < self.max_bytes:
            raise ValueError("documents.max_tenant_mib: expected room for a document of max_kib at least")

    @property
    def max_bytes(self) -> int:
        return self.max_kib * _KIB

    @property
    def max_tenant_bytes(self) -> int:
        return self.max_tenant_mib * _MIB
