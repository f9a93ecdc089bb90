"""Take screenshots for docs/report.md: `cd docs && python -m pictures.screenshots report.html`.

Needs Chromium and Pillow (the extra `report`). The report must have a profile, as from `clopt-run`.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

from PIL import Image

from .browser import find_browser, opened

FOLDER = Path(__file__).parent
WIDTH, HEIGHT = 1280, 760

_SLOWEST = "document.querySelector('#time a[href^=\"#\"]')"
_SOURCE = "document.querySelector(':target pre')"
_TO_SOURCE = f"setTimeout(() => ({_SOURCE}.scrollIntoView(), scrollBy(0, -240)), 20)"
VIEWS: Mapping[str, str] = {
    "report-network": "scrollTo(0, 0)",
    "report-time": "document.querySelector('#time').scrollIntoView()",
    "report-kernel": f"{_SLOWEST}.click(), {_TO_SOURCE}",
}
"""Actions on the page before each picture."""


def photograph(report: Path, folder: Path = FOLDER) -> list[Path]:
    """Write a picture of each view of a report; return their paths."""
    browser = find_browser()
    if browser is None:
        raise SystemExit("Screenshots need Chromium; install it, for instance by apt.")
    written: list[Path] = []
    with tempfile.TemporaryDirectory() as profile, opened(browser, Path(profile)) as tab:
        tab.open(report, WIDTH, HEIGHT)
        for name, action in VIEWS.items():
            tab.evaluate(action)
            picture = Image.open(BytesIO(tab.screenshot())).convert("RGB")
            written.append(folder / f"{name}.png")
            picture.quantize(64).save(written[-1], optimize=True)
    return written


if __name__ == "__main__":
    for path in photograph(Path(sys.argv[1])):
        print(f"wrote {path.relative_to(FOLDER.parents[1])}")
