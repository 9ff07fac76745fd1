"""A headless Chromium driven through its own pipe: no driver, no port, and nothing to install beside it."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-extensions",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--remote-debugging-pipe",
)
PATIENCE = 60.0
# Chromium reads commands from 3 and writes answers to 4. Both are first moved out of the way.
LAUNCHER = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
for end, place in zip(ends, (3, 4)):
    os.dup2(end, place, True)
os.execv(sys.argv[3], sys.argv[3:])
"""
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "End": 35, "Home": 36} | {
    f"Arrow{name}": 37 + index for index, name in enumerate(("Left", "Up", "Right", "Down"))
}


def executable() -> str | None:
    """Where Chromium is; None where it is not."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Page:
    """A tab, by the words of the DevTools protocol."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._buffer = b""
        self._last = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its answer."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._last:
                assert "error" not in answer, (method, answer["error"])
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def _receive(self) -> dict[str, Any]:
        until = time.monotonic() + PATIENCE
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._from], [], [], max(0, until - time.monotonic()))
            assert ready, "the browser does not answer"
            part = os.read(self._from, 1 << 20)
            assert part, "the browser has gone"
            self._buffer += part
        message, _, self._buffer = self._buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found

    def open(self, file: Path, width: int = 1280, height: int = 900, scheme: str = "light") -> None:
        """Open a file in a window of a size, with a preference for light or dark."""
        self.resize(width, height)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        self.call("Page.navigate", url=file.as_uri())
        self.wait("document.readyState === 'complete'")
        self.settle()

    def resize(self, width: int, height: int) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def settle(self) -> None:
        """Let everything be drawn."""
        frames = "new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(true))))"
        self.run(frames)

    def wait(self, condition: str) -> None:
        until = time.monotonic() + PATIENCE
        while not self.run(condition):
            assert time.monotonic() < until, condition
            time.sleep(0.02)

    def run(self, script: str) -> Any:
        """Evaluate an expression and return its value."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def key(self, key: str) -> None:
        """Press a key as a keyboard does."""
        names = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
        text = {"text": "\r"} if key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", **names, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **names)

    def point(self, x: float, y: float) -> None:
        """Move the pointer."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector: str) -> None:
        """Click on the middle of an element."""
        box = self.box(selector)
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def box(self, selector: str) -> dict[str, float]:
        """Return where an element is in the window, once it is scrolled into it."""
        found: dict[str, float] = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center', behavior: 'instant'});"
            "return e.getBoundingClientRect().toJSON(); })()"
        )
        return found

    def picture(self, file: Path, *, whole: bool = True) -> None:
        """Write what can be seen, or the whole page, as PNG."""
        size = self.run("[document.documentElement.clientWidth, document.documentElement.scrollHeight]")
        clip = {"clip": {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}} if whole else {}
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=whole, **clip)
        file.write_bytes(base64.b64decode(answer["data"]))

    def complaints(self) -> list[str]:
        """Return what was said on the console, and exceptions."""
        self.run("1")
        return [
            json.dumps(event["params"])
            for event in self.events
            if event.get("method")
            in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        ]

    def requests(self) -> list[str]:
        """Return what was asked for, by address; data that is part of the page is not."""
        self.run("1")
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
            and not event["params"]["request"]["url"].startswith("data:")
        ]


@contextlib.contextmanager
def browser() -> Iterator[Page]:
    """Start a Chromium with a profile of its own, and give its page."""
    command = executable()
    assert command is not None
    to_browser, from_browser = os.pipe(), os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [
                *(sys.executable, "-c", LAUNCHER, str(to_browser[0]), str(from_browser[1])),
                *(command, *FLAGS, f"--user-data-dir={profile}", "about:blank"),
            ],
            pass_fds=(to_browser[0], from_browser[1]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser[0])
        os.close(from_browser[1])
        try:
            page = Page(to_browser[1], from_browser[0])
            yield page
            with contextlib.suppress(AssertionError, OSError):
                page._session = None
                page.call("Browser.close")
        finally:
            os.close(to_browser[1])
            os.close(from_browser[0])
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
