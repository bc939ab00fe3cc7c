"""A headless browser, driven over the Chrome DevTools Protocol.

One process serves all tests of a worker. Each test has a browser context: cookies, storage and cache of its own.
"""

import asyncio
import contextlib
import itertools
import os
import re
import shutil
import signal
import subprocess
from base64 import b64decode
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any

import orjson
from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome") or ""
ABSENT = "there is no Chromium here"

_OPTIONS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--remote-debugging-port=0", "--remote-debugging-address=127.0.0.1"),
)
_LISTENING = re.compile(rb"DevTools listening on (ws://\S+)")
_SECONDS = 30.0
_KEY_CODES = {"Tab": 9, "Enter": 13, "Escape": 27, "Delete": 46}


Cookies = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Browser:
    """A running browser: its address for the protocol, and the cookies of persons who are signed in, by origin."""

    address: str
    signed_in: dict[str, Cookies] = field(default_factory=dict)


class Page:
    """A tab with its own cookies."""

    def __init__(self, socket: ClientWebSocketResponse, browser: Browser) -> None:
        self._socket = socket
        self.browser = browser
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._session = ""
        self._context = ""
        self.faults: list[str] = []
        self.octets = 0
        self._dialogs: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def open(self) -> None:
        context = await self._send("Target.createBrowserContext", disposeOnDetach=True)
        self._context = context["browserContextId"]
        target = await self._send("Target.createTarget", url="about:blank", browserContextId=self._context)
        attached = await self._send("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            await self._send(f"{domain}.enable")

    async def read(self) -> None:
        """Receive messages of the browser until it closes the connection."""
        async for message in self._socket:
            if message.type is not WSMsgType.TEXT:
                break
            said = orjson.loads(message.data)
            waiting = self._waiting.pop(said.get("id", 0), None)
            if waiting is not None and not waiting.done():
                waiting.set_result(said)
            self._note(said.get("method", ""), said.get("params", {}))

    async def goto(self, url: str) -> None:
        await self._send("Page.navigate", url=url)
        await self.until("document.readyState === 'complete'")

    async def run(self, script: str) -> Any:
        """Evaluate an expression and await its promise."""
        done = await self._send(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True
        )
        if "exceptionDetails" in done:
            raise AssertionError(done["exceptionDetails"])
        return done["result"].get("value")

    async def until(self, condition: str) -> None:
        """Wait until the condition holds in a page that is loaded, with its scripts, also across navigations."""
        async with asyncio.timeout(_SECONDS):
            while True:
                with contextlib.suppress(AssertionError):
                    if await self.run(f"document.readyState === 'complete' && ({condition})"):
                        return
                await asyncio.sleep(0.05)

    async def fill(self, selector: str, text: str) -> None:
        await self.run(f"document.querySelector({selector!r}).focus()")
        await self.insert(text)

    async def insert(self, text: str) -> None:
        """Insert a text into the focused element."""
        await self._send("Input.insertText", text=text)

    async def press(self, key: str) -> None:
        """Press a key in the focused element: a letter, or a name as `Enter`."""
        code = f"Key{key.upper()}" if key.isalpha() and len(key) == 1 else key
        number = ord(key.upper()) if len(key) == 1 else _KEY_CODES.get(key, 0)
        text = key if len(key) == 1 else "\r" if key == "Enter" else ""
        facts = {"key": key, "code": code, "windowsVirtualKeyCode": number}
        await self._send("Input.dispatchKeyEvent", type="keyDown", text=text, **facts)
        await self._send("Input.dispatchKeyEvent", type="keyUp", **facts)

    async def type(self, text: str) -> None:
        """Type letters into the focused element, key by key."""
        for letter in text:
            await self.press(letter)

    async def click(self, selector: str) -> None:
        await self.run(f"document.querySelector({selector!r}).click()")

    async def add_authenticator(self) -> None:
        """Add a virtual authenticator that stores passkeys and verifies its user."""
        await self._send("WebAuthn.enable")
        traits = {"protocol": "ctap2", "transport": "internal", "automaticPresenceSimulation": True}
        verifies = {"hasResidentKey": True, "hasUserVerification": True, "isUserVerified": True}
        await self._send("WebAuthn.addVirtualAuthenticator", options=traits | verifies)

    async def expect_dialogs(self) -> None:
        """Enable the control of FedCM dialogs."""
        await self._send("FedCm.enable", disableRejectionDelay=True)

    async def dialog(self) -> dict[str, Any]:
        """Return the next FedCM dialog."""
        async with asyncio.timeout(_SECONDS):
            return await self._dialogs.get()

    async def choose_account(self, dialog: dict[str, Any]) -> None:
        await self._send("FedCm.selectAccount", dialogId=dialog["dialogId"], accountIndex=0)

    async def acknowledge(self, dialog: dict[str, Any]) -> None:
        """Close an error dialog."""
        await self._send("FedCm.clickDialogButton", dialogId=dialog["dialogId"], dialogButton="ErrorGotIt")

    @asynccontextmanager
    async def window(self, address: str) -> AsyncIterator[None]:
        """Use the window that the browser opened by itself, whose address begins with `address`."""
        page, target = self._session, await self._opened(address)
        self._session = ""
        attached = await self._send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        await self.until("document.readyState === 'complete'")
        yield
        self._session = page

    async def emulate(self, *, width: int, scheme: str) -> None:
        """Emulate a window of this width in CSS pixels, on a system that prefers `light` or `dark`."""
        await self._send(
            "Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False
        )
        preferred = {"name": "prefers-color-scheme", "value": scheme}
        await self._send("Emulation.setEmulatedMedia", features=[preferred])

    async def prefer(self, language: str) -> None:
        """Prefer a language, as the settings of the browser do."""
        await self._send("Network.enable")
        await self._send("Network.setExtraHTTPHeaders", headers={"Accept-Language": language})

    async def picture(self) -> bytes:
        """Return the whole page as PNG."""
        taken = await self._send("Page.captureScreenshot", captureBeyondViewport=True)
        return b64decode(taken["data"])

    async def count_octets(self) -> None:
        """Count the octets of responses in `octets`, as they are transferred, and keep no cache."""
        await self._send("Network.enable")
        await self._send("Network.setCacheDisabled", cacheDisabled=True)

    async def without_scripts(self) -> None:
        """Disable scripts for pages that are loaded from now on."""
        await self._send("Emulation.setScriptExecutionDisabled", value=True)

    async def forget(self) -> None:
        """Delete all cookies."""
        await self._send("Network.clearBrowserCookies")

    async def cookies(self) -> Cookies:
        found = await self._send_to("", "Storage.getCookies", browserContextId=self._context)
        return list(found["cookies"])

    async def set_cookies(self, cookies: Cookies) -> None:
        await self._send_to("", "Storage.setCookies", cookies=cookies, browserContextId=self._context)

    async def _opened(self, address: str) -> str:
        async with asyncio.timeout(_SECONDS):
            while True:
                for target in (await self._send("Target.getTargets"))["targetInfos"]:
                    if target["url"].startswith(address):
                        return str(target["targetId"])
                await asyncio.sleep(0.05)

    def _note(self, method: str, params: dict[str, Any]) -> None:
        if method == "FedCm.dialogShown":
            self._dialogs.put_nowait(params)
        if method == "Network.loadingFinished":
            self.octets += int(params["encodedDataLength"])
        if method == "Runtime.exceptionThrown":
            self.faults.append(str(params["exceptionDetails"]))
        # Error responses that a script handles are logged as network errors too; these do not count.
        if method == "Log.entryAdded" and params["entry"].get("source") == "security":
            self.faults.append(str(params["entry"]["text"]))

    async def _send(self, method: str, **params: Any) -> dict[str, Any]:
        return await self._send_to(self._session, method, **params)

    async def _send_to(self, session_id: str, method: str, **params: Any) -> dict[str, Any]:
        """Send a message to a session, or to the browser itself."""
        number = next(self._ids)
        waiting = self._waiting[number] = asyncio.get_running_loop().create_future()
        session = {"sessionId": session_id} if session_id else {}
        await self._socket.send_json({"id": number, "method": method, "params": params, **session})
        async with asyncio.timeout(_SECONDS):
            said = await waiting
        if "error" in said:
            raise AssertionError(f"{method}: {said['error']}")
        return dict(said["result"])


@contextmanager
def chromium(folder: Path) -> Iterator[Browser]:
    """A browser with this profile directory; it ends with the block."""
    process = subprocess.Popen(
        [PROGRAM, *_OPTIONS, f"--user-data-dir={folder}"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    with process:
        try:
            assert process.stderr is not None
            found = next(filter(None, map(_LISTENING.search, process.stderr)), None)
            assert found is not None, "the browser did not start"
            drain = Thread(target=process.stderr.read, daemon=True)  # a full pipe would stop the browser
            drain.start()
            yield Browser(found[1].decode())
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


@asynccontextmanager
async def new_page(browser: Browser) -> AsyncIterator[Page]:
    """A page in a browser context of its own; both end with the block."""
    async with (
        ClientSession() as http,
        http.ws_connect(browser.address, max_msg_size=0) as socket,
        asyncio.TaskGroup() as tasks,
    ):
        page = Page(socket, browser)
        reading = tasks.create_task(page.read())
        await page.open()
        yield page
        reading.cancel()
