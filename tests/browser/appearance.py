"""Rules of WCAG 2.2 that a script can check in a page of the browser, in every look."""

from typing import Any

from tests.browser.chromium import Page

# Width of the window, and the color scheme that the system prefers.
LOOKS = {"light": (1000, "light"), "dark": (1000, "dark"), "narrow": (320, "light")}
# 1.1.1 and 4.1.2 names, 1.3.1 structure, 1.4.3 contrast, 1.4.10 reflow, 2.4.2 title, 3.1.1 language.
_FAULTS = """(() => {
  const faults = [];
  const seen = (element) => element.checkVisibility({ visibilityProperty: true });
  const all = [...document.querySelectorAll("body *")].filter(seen);

  if (!document.documentElement.lang) faults.push("no language");
  if (!document.title) faults.push("no title");
  if (all.filter(({ tagName }) => tagName === "H1").length !== 1) faults.push("not one heading of the first level");
  if (all.filter(({ tagName }) => tagName === "MAIN").length !== 1) faults.push("not one main part");
  if (document.documentElement.scrollWidth > document.documentElement.clientWidth) faults.push("wider than the window");

  const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push(`twice: ${id}`);
  for (const element of all) {
    for (const name of ["aria-describedby", "aria-labelledby", "aria-controls"]) {
      for (const id of (element.getAttribute(name) ?? "").split(" ").filter(Boolean)) {
        if (!document.getElementById(id)) faults.push(`${name} of nothing: ${id}`);
      }
    }
    if (element.tagName === "IMG" && !element.hasAttribute("alt")) faults.push("an image without a text");
    if (element.tagName === "INPUT" && !element.labels.length) faults.push(`no label: ${element.id}`);
    if (["A", "BUTTON"].includes(element.tagName) && !(element.textContent.trim() || element.title)) faults.push("a control without a name");
  }

  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([red, green, blue]) => {
    const [r, g, b] = [red, green, blue].map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const color = rgba(getComputedStyle(each).backgroundColor);
      if (color[3] === 255) return color;
    }
    return [255, 255, 255, 255];
  };
  for (const element of all) {
    const isText = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (!isText) continue;
    const [one, other] = [light(rgba(getComputedStyle(element).color)), light(behind(element))].sort((a, b) => b - a);
    const contrast = (one + 0.05) / (other + 0.05);
    if (contrast < 4.5) faults.push(`contrast ${contrast.toFixed(1)}: ${element.textContent.trim()}`);
  }
  return faults;
})()"""
_SETTLED = "document.getAnimations().forEach((each) => each.finish())"


async def in_every_look(page: Page, script: str) -> dict[str, list[Any]]:
    """Return what a script finds in the page as it is shown now, in the looks where it finds anything."""
    found = {}
    for look, (width, scheme) in LOOKS.items():
        await page.emulate(width=width, scheme=scheme)
        # A transition has colours that no state of the page has.
        await page.run(_SETTLED)
        found[look] = list(await page.run(script))
    return {look: each for look, each in found.items() if each}


async def faults(page: Page) -> dict[str, list[Any]]:
    return await in_every_look(page, _FAULTS)
