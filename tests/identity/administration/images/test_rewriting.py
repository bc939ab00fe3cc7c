"""Re-encoding of valid and hostile images, in the test's own process."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from identity.directory.images.rewrite_program import Fit, Shape, Status, Unusable, rewritten
from tests.identity.administration.images.pictures import (
    SVG,
    animation,
    color_at,
    halves,
    opened,
    photograph,
    uploaded,
)

SQUARE = Shape(width=100, height=100, fit=Fit.SQUARE)
WITHIN = Shape(width=100, height=40, fit=Fit.WITHIN)
MAX_PIXELS = 1_000_000


def written(content: bytes, shape: Shape = SQUARE) -> bytes:
    return rewritten(content, shape, max_pixels=MAX_PIXELS)


def status_of(content: bytes, *, max_pixels: int = MAX_PIXELS) -> Status:
    with pytest.raises(Unusable) as refused:
        rewritten(content, SQUARE, max_pixels=max_pixels)
    return refused.value.status


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_photographs_and_drawings_become_webp(kind: str) -> None:
    image = opened(written(uploaded(kind)))

    assert (image.format, image.size, color_at(image, 50, 50)) == ("WEBP", (100, 100), "red")


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "I;16"])
def test_every_depth_of_color_is_taken(mode: str) -> None:
    assert opened(written(uploaded(mode=mode))).size == (100, 100)


def test_sixteen_bits_of_grey_stay_grey() -> None:
    image = opened(written(uploaded(mode="I;16"))).convert("L")

    assert image.getpixel((50, 50)) == pytest.approx(40_000 / 256, abs=3)


def test_colors_of_a_printer_become_those_of_a_screen() -> None:
    assert color_at(opened(written(uploaded("JPEG", mode="CMYK"))), 50, 50) == "red"


def test_what_is_transparent_stays_so() -> None:
    image = opened(written(uploaded(mode="RGBA"), WITHIN))

    assert image.mode == "RGBA"
    assert image.getpixel((5, 5)) == (255, 0, 0, 128)


def test_a_square_is_cut_out_of_the_middle() -> None:
    image = opened(written(halves()))

    assert image.size == (100, 100)
    assert (color_at(image, 2, 50), color_at(image, 97, 50)) == ("red", "blue")


def test_within_a_box_all_of_it_is_there() -> None:
    assert opened(written(halves(), WITHIN)).size == (80, 40)


@pytest.mark.parametrize(("shape", "size"), [(SQUARE, (20, 20)), (WITHIN, (30, 20))])
def test_a_small_image_is_not_made_larger(shape: Shape, size: tuple[int, int]) -> None:
    assert opened(written(uploaded(size=(30, 20)), shape)).size == size


@pytest.mark.parametrize("size", [(1, 1), (1, 900_000), (900_000, 1)])
@pytest.mark.parametrize("shape", [SQUARE, WITHIN])
def test_no_proportions_are_too_much(size: tuple[int, int], shape: Shape) -> None:
    assert min(opened(written(uploaded(size=size), shape)).size) == 1


def test_a_photograph_stands_upright() -> None:
    image = opened(written(photograph(), WITHIN))

    assert image.size == (20, 40)
    assert (color_at(image, 10, 5), color_at(image, 10, 35)) == ("red", "blue")


@pytest.mark.parametrize("shape", [SQUARE, WITHIN])
def test_nothing_but_pixels_comes_through(shape: Shape) -> None:
    content = written(photograph(), shape)

    assert b"home" in photograph()
    assert b"home" not in content
    assert not {b"EXIF", b"XMP ", b"ICCP"} & {content[at : at + 4] for at in range(len(content))}


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_a_page_that_hides_behind_an_image_stays_behind(kind: str) -> None:
    content = written(uploaded(kind) + b"<html><script>alert(1)</script>")

    assert b"script" not in content


@pytest.mark.parametrize("kind", ["GIF", "BMP", "TIFF", "ICO", "PPM", "PDF", "EPS", "JPEG2000"])
def test_other_formats_are_none(kind: str) -> None:
    assert status_of(uploaded(kind)) is Status.NO_IMAGE


@pytest.mark.parametrize(
    "content", [b"", b"GIF89a", SVG, b"<?xml version='1.0'?>" + SVG, b"\x89PNG\r\n\x1a\n"]
)
def test_what_is_drawn_by_a_browser_alone_is_none(content: bytes) -> None:
    assert status_of(content) is Status.NO_IMAGE


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_half_an_image_is_none(kind: str) -> None:
    whole = uploaded(kind, size=(500, 500))

    assert status_of(whole[: len(whole) // 2]) is Status.NO_IMAGE


@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_an_animation_is_refused(kind: str) -> None:
    assert status_of(animation(kind)) is Status.ANIMATED


def test_of_the_pictures_of_one_photograph_the_first_counts() -> None:
    assert color_at(opened(written(animation("MPO"))), 25, 25) == "red"


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_too_many_pixels_are_refused_before_they_are_decoded(kind: str) -> None:
    # The file is truncated, so its decoding would fail.
    head = uploaded(kind, size=(300, 200))

    assert status_of(head if kind == "WEBP" else head[:-30], max_pixels=59_999) is Status.TOO_MANY_PIXELS


def test_a_bomb_is_too_many_pixels() -> None:
    bomb = uploaded(size=(20_000, 20_000), mode="1")

    assert len(bomb) < 100_000
    assert status_of(bomb) is Status.TOO_MANY_PIXELS


# Decoders warn about data that they ignore, and about sizes above their own limit.
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::PIL.Image.DecompressionBombWarning")
@given(content=st.binary(max_size=200), at=st.integers(0, 400), kind=st.sampled_from(["JPEG", "PNG", "WEBP"]))
def test_whatever_is_uploaded_becomes_a_webp_or_is_refused(content: bytes, at: int, kind: str) -> None:
    whole = uploaded(kind, size=(30, 20))
    try:
        image = opened(written(whole[:at] + content + whole[at + len(content) :]))
    except Unusable:
        return

    assert image.format == "WEBP"
    assert max(image.size) <= 100
