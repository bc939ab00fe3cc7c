"""An uploaded image, as it is kept and handed out."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from identity.images.rewriting import Fit, Shape
from server.platform.records import Kind, Record


class ImageKind(StrEnum):
    """Whom an image shows."""

    CLIENT = "client"
    USER = "user"
    PROVIDER = "provider"


# Pages show a logo 84 and a provider's image 20 pixels high; screens have up to three for each of these.
SHAPES = {
    ImageKind.CLIENT: Shape(width=512, height=168, fit=Fit.WITHIN),
    ImageKind.USER: Shape(width=192, height=192, fit=Fit.SQUARE),
    ImageKind.PROVIDER: Shape(width=60, height=60, fit=Fit.WITHIN),
}


@dataclass(frozen=True, slots=True)
class Owner:
    """The client, person or provider that an image shows."""

    kind: ImageKind
    id: str

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Image(Record):
    """It never changes: another one has another `id`, and its owner's record says which is the one that counts."""

    owner: str
    content: bytes = field(repr=False)
    media_type: str
    uploaded_at: datetime


IMAGES = Kind(Image, "image", indexed=("owner",))
