"""A headless Chromium without network access, driven by its DevTools protocol over two pipes.

It takes screenshots of pages that clopt writes, and runs the tests of their scripts.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LIMIT = 60.0
"""Maximum seconds for an answer; a start of the browser takes less even on a busy machine."""

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def find_browser() -> str | None:
    """Return the path of an installed Chromium or Chrome."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


class Tab:
    """A page of the browser, with everything that it reported."""

    def __init__(self, reads: int, writes: int) -> None:
        self._reads, self._writes = reads, writes
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the result of a method of the protocol."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._writes, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def start(self) -> None:
        """Open an empty page that has no network."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        speeds = {"downloadThroughput": -1, "uploadThroughput": -1}
        self.call("Network.emulateNetworkConditions", offline=True, latency=0, **speeds)

    def open(self, page: Path, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Load a file in a window of this size, and wait until its script has run."""
        screen = {"width": width, "height": height, "deviceScaleFactor": 1}
        self.call("Emulation.setDeviceMetricsOverride", **screen, mobile=width < 600)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.events.clear()
        self.call("Page.navigate", url=page.resolve().as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self._receive()

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression, after the events that it causes."""
        pause = "new Promise(done => setTimeout(done, 50))"
        found = self.call(
            "Runtime.evaluate",
            expression=f"(async () => {{ const it = ({expression}); await {pause}; return it }})()",
            awaitPromise=True,
            returnByValue=True,
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def errors(self) -> list[str]:
        """Return the complaints of scripts, the console and the security policy."""
        found: list[str] = []
        for event in self.events:
            params = event["params"]
            match event["method"]:
                case "Runtime.exceptionThrown":
                    found.append(str(params["exceptionDetails"]))
                case "Runtime.consoleAPICalled" if params["type"] in ("error", "warning"):
                    found.append(str(params["args"]))
                case "Log.entryAdded" if params["entry"]["level"] == "error":
                    found.append(params["entry"]["text"])
        return found

    def requests(self) -> list[str]:
        """Return the addresses that the page requested, including its own."""
        sent = [e for e in self.events if e["method"] == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    def screenshot(self) -> bytes:
        """Return the window as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def _receive(self) -> dict[str, Any]:
        end = time.monotonic() + LIMIT
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._reads], [], [], max(0, end - time.monotonic()))
            assert ready, f"the browser said nothing for {LIMIT:.0f} s"
            part = os.read(self._reads, 1 << 20)
            assert part, "the browser has ended"
            self._buffer += part
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        if "method" in message:
            self.events.append(message)
        return message


@contextmanager
def opened(browser: str, profile: Path) -> Generator[Tab]:
    """Run the browser with an empty profile, and pass an empty tab to the body."""
    commands, to_browser = os.pipe()
    from_browser, answers = os.pipe()
    words = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    words += ["--remote-debugging-pipe", "--no-first-run", f"--user-data-dir={profile}"]
    # The browser reads commands at descriptor 3 and writes answers to 4.
    shell = ["bash", "-c", f'exec "$0" "$@" 3<&{commands} 4>&{answers}', *words]
    process = subprocess.Popen(
        shell,
        pass_fds=(commands, answers),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(commands)
    os.close(answers)
    try:
        tab = Tab(from_browser, to_browser)
        tab.start()
        yield tab
    finally:
        process.kill()
        process.wait(LIMIT)
        os.close(to_browser)
        os.close(from_browser)
