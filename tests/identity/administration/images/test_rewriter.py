"""The pool of decoder processes: their costs, and the validation of their output."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator

import pytest

from identity.directory.images.config import PicturesConfig
from identity.directory.images.image import SHAPES, ImageKind
from identity.directory.images.rewriter import MEDIA_TYPE, MOST_BYTES, Rewriter
from server.platform.errors import InvalidArgument, ResourceExhausted, Unavailable
from tests.identity.administration.images.pictures import (
    SVG,
    animation,
    noise,
    opened,
    slow_to_decode,
    uploaded,
)

PICTURE = SHAPES[ImageKind.USER]


@pytest.fixture
async def rewriter() -> AsyncIterator[Rewriter]:
    pool = Rewriter(PicturesConfig(max_megapixels=25, decode_secs=1), patience=60)
    yield pool
    pool.close()


@pytest.mark.parametrize(
    ("kind", "size"),
    [(ImageKind.USER, (192, 192)), (ImageKind.CLIENT, (252, 168)), (ImageKind.PROVIDER, (60, 40))],
)
async def test_an_image_has_the_shape_of_what_it_shows(
    rewriter: Rewriter, kind: ImageKind, size: tuple[int, int]
) -> None:
    written = await rewriter.rewrite(uploaded(size=(3000, 2000)), SHAPES[kind])

    image = opened(written)
    assert (image.format, image.size) == ("WEBP", size)
    assert MEDIA_TYPE == "image/webp"


@pytest.mark.parametrize("kind", list(ImageKind))
async def test_what_is_kept_is_bounded_whatever_the_image_is(rewriter: Rewriter, kind: ImageKind) -> None:
    shape = SHAPES[kind]

    written = await rewriter.rewrite(noise(shape.width, shape.height), shape)

    assert opened(written).size == (shape.width, shape.height)
    assert len(written) <= MOST_BYTES


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param(SVG, "expected a JPEG, PNG or WebP", id="drawing"),
        pytest.param(animation("PNG"), "found an animation", id="animation"),
        pytest.param(uploaded(size=(9000, 9000), mode="1"), "at most 25 megapixels", id="bomb"),
    ],
)
async def test_a_refusal_says_what_was_expected(rewriter: Rewriter, content: bytes, words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        await rewriter.rewrite(content, PICTURE)


async def test_an_image_that_takes_too_long_is_given_up(rewriter: Rewriter) -> None:
    with pytest.raises(InvalidArgument, match="decodes within 1 seconds"):
        await rewriter.rewrite(slow_to_decode(), PICTURE)


async def test_where_there_is_no_processor_for_it_an_image_is_not_to_blame() -> None:
    pool = Rewriter(PicturesConfig(), patience=0)

    with pytest.raises(Unavailable, match="too slowly"):
        await pool.rewrite(uploaded(), PICTURE)

    pool.close()


async def test_whoever_comes_when_too_many_wait_is_turned_away() -> None:
    pool = Rewriter(PicturesConfig(workers=1), most_waiting=2)

    answers = await asyncio.gather(
        *(pool.rewrite(uploaded(), PICTURE) for _ in range(4)), return_exceptions=True
    )

    pool.close()
    assert [type(answer) for answer in answers] == [bytes, bytes, ResourceExhausted, ResourceExhausted]


def test_a_decoder_has_nothing_to_take() -> None:
    attempts = """
import os, socket
from identity.directory.images.rewrite_program import confine
confine(max_pixels=1, seconds=1)
for attempt in (lambda: open("/etc/hostname"), socket.socket, os.pipe, lambda: bytes(1 << 40)):
    try:
        attempt()
    except (OSError, MemoryError) as error:
        print(type(error).__name__)
"""

    ended = subprocess.run([sys.executable, "-c", attempts], capture_output=True, check=True, text=True)

    assert ended.stdout.split() == ["OSError", "OSError", "OSError", "MemoryError"]
