"""[pictures]: uploaded images."""

from dataclasses import dataclass

from identity.foundation.bounds import expect_within

_KIB = 1024

# The limit of messages between the processes of a deployment.
_MOST_KIB = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class PicturesConfig:
    """[pictures]: uploaded pictures of users, logos of clients and images of providers.

    With `upload_allowed` users set their own picture; administrators may in any case. With `public` everybody who knows
    the unguessable address of a picture can fetch it; otherwise only callers who may read the account. `max_kib` bounds
    an upload, `max_megapixels` its decoded size, and `decode_secs` the processor time. At most `workers` images are
    decoded at a time, each in a process of its own.
    """

    upload_allowed: bool = True
    public: bool = True
    max_kib: int = _MOST_KIB
    max_megapixels: int = 25
    decode_secs: int = 5
    workers: int = 2

    def __post_init__(self) -> None:
        expect_within("pictures.max_kib", self.max_kib, 16, _MOST_KIB)
        expect_within("pictures.max_megapixels", self.max_megapixels, 1, 100)
        expect_within("pictures.decode_secs", self.decode_secs, 1, 60)
        expect_within("pictures.workers", self.workers, 1, 32)

    @property
    def max_bytes(self) -> int:
        return self.max_kib * _KIB

    @property
    def max_pixels(self) -> int:
        return self.max_megapixels * 1_000_000
