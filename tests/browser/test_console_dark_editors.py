"""Editors in the dark theme: the sheet is dark, and texts on it can be read as well as on the white one."""

import pytest

from edge.console.pages.models import KINDS
from tests.browser.chromium import Page
from tests.browser.console import visit
from tests.browser.test_console_models import FOCUS, FRAMES, OPEN_ALL, READY, choose, needs_editors
from tests.server_process import Addresses

_FILTER = "getComputedStyle(document.querySelector('.workspace'), '::after').backdropFilter"
_PLACE = """(({ x, y, width }) => [x, y, width].map(Math.round))(document.querySelector('.djs-popup').getBoundingClientRect())"""
# No ancestor of the menu inside the sheet has an order of its own, so the menu lies upon the pane.
_ABOVE_THE_PANE = """(() => {
  for (let each = document.querySelector('.djs-popup').parentElement; !each.matches('.workspace'); each = each.parentElement) {
    const { zIndex, position, transform, filter, opacity, isolation, contain } = getComputedStyle(each);
    const isOrdered = position !== 'static' && zIndex !== 'auto';
    if (isOrdered || transform !== 'none' || filter !== 'none' || opacity !== '1' || isolation !== 'auto' || contain !== 'none') return false;
  }
  return true;
})()"""
# As the filter of the sheet changes colors. Names of elements are painted by SVG, with `fill`.
_CONTRASTS = """(() => {
  const filter = getComputedStyle(document.querySelector('.workspace'), '::after').backdropFilter;
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const painted = (color, filtered) => {
    canvas.filter = 'none';
    canvas.clearRect(0, 0, 1, 1);
    canvas.filter = filtered ? filter : 'none';
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (color, filtered = true) => {
    const [r, g, b] = painted(color, filtered).map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const color = getComputedStyle(each).backgroundColor;
      if (painted(color, false)[3] === 255) return color;
    }
    return '#ffffff';
  };
  const contrast = (one, other, filtered) => {
    const [more, less] = [light(one, filtered), light(other, filtered)].sort((a, b) => b - a);
    return (more + 0.05) / (less + 0.05);
  };
  const texts = [...document.querySelectorAll('.workspace *')].filter((each) =>
    each.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
    [...each.childNodes].some(({ nodeType, data }) => nodeType === 3 && data.trim()));
  return {
    sheet: light('#ffffff'),
    texts: texts.length,
    faint: texts.flatMap((each) => {
      const style = getComputedStyle(each);
      const colors = [each.closest('svg') ? style.fill : style.color, behind(each)];
      const [dark, white] = [contrast(...colors, true), contrast(...colors, false)];
      return dark < Math.min(4.5, white) ? [`${dark.toFixed(1)}: ${each.textContent.trim()}`] : [];
    }),
  };
})()"""


@needs_editors
@pytest.mark.parametrize("kind", list(KINDS))
async def test_the_sheet_of_an_editor_is_dark_and_its_texts_can_be_read(
    page: Page, addresses: Addresses, kind: str
) -> None:
    await page.emulate(width=1300, scheme="dark")
    await visit(page, f"{addresses.http}/console/default/models/new/{kind}")
    await page.until(READY)
    await page.run(OPEN_ALL)
    found = [await page.run(_CONTRASTS)]
    if kind == "decision":
        await choose(page, "(Decision)")
        await page.until("!!document.querySelector('.add-rule')")
        await page.click(".add-rule")
        found.append(await page.run(_CONTRASTS))

    for each in found:
        assert each["sheet"] < 0.02
        assert each["texts"] > 0
        assert each["faint"] == []


@needs_editors
async def test_a_person_who_chose_the_light_theme_has_a_white_sheet(page: Page, addresses: Addresses) -> None:
    await page.emulate(width=1300, scheme="dark")
    await visit(page, f"{addresses.http}/console/default/models/new/process")
    await page.until(READY)
    await page.click("#theme")

    assert await page.run(_FILTER) == "none"


@needs_editors
async def test_menus_of_an_editor_are_at_the_same_place_in_both_themes_and_dark_once(
    page: Page, addresses: Addresses
) -> None:
    places, topmost = [], []
    for scheme in ("light", "dark"):
        await page.emulate(width=1300, scheme=scheme)
        await visit(page, f"{addresses.http}/console/default/models/new/process")
        await page.until(READY)
        await choose(page, "StartEvent")
        # The pad of an element gets its place in the next frame, and the menu opens below the pad.
        await page.run(FRAMES)
        await page.run(FOCUS)
        await page.press("r")
        await page.until("document.activeElement.closest('.djs-popup') !== null")
        places.append(await page.run(_PLACE))
        topmost.append(await page.run(_ABOVE_THE_PANE))

    assert places[0] == places[1]
    assert topmost == [True, True]
