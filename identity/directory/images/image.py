"""An uploaded image as stored and served."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from identity.directory.images.rewrite_program import Fit, Shape
from server.platform.records import Kind, Record
from server.platform.records import Owner as RecordOwner


class ImageKind(StrEnum):
    """Kind of the owner."""

    CLIENT = "client"
    USER = "user"
    PROVIDER = "provider"


# Pages show a logo 84 pixels high and a provider's image 20; screens have up to three device pixels per pixel.
SHAPES = {
    ImageKind.CLIENT: Shape(width=512, height=168, fit=Fit.WITHIN),
    ImageKind.USER: Shape(width=192, height=192, fit=Fit.SQUARE),
    ImageKind.PROVIDER: Shape(width=60, height=60, fit=Fit.WITHIN),
}


@dataclass(frozen=True, slots=True)
class Owner:
    """The client, user or provider that an image belongs to."""

    kind: ImageKind
    id: str

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Image(Record):
    """Never changes: another image has another `id`, and the owner's record names the current one."""

    owner: str
    content: bytes = field(repr=False)
    media_type: str
    uploaded_at: datetime


IMAGES = Kind(
    Image,
    "image",
    indexed=("owner",),
    owners=(
        RecordOwner("client", "owner", "client {}"),
        RecordOwner("user", "owner", "user {}"),
        RecordOwner("provider", "owner", "provider {}"),
    ),
)
