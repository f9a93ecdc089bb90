"""Draws every picture whose data or drawing code has changed: `cd docs && python -m pictures`.

Needs matplotlib (the extra `docs`). Each picture is a module with `data()`, which it derives from
the code or from result files, and `draw(figure, data)`. The SVG ends with a digest of both, so that
a test without matplotlib can tell whether a picture is out of date.
"""

from __future__ import annotations

import inspect
import io
import json
from hashlib import sha256
from pathlib import Path
from types import ModuleType

from . import canvas, commands, levels, speed, texel

FOLDER = Path(__file__).parent
PICTURES: dict[str, ModuleType] = {
    "commands": commands,
    "levels": levels,
    "speed": speed,
    "texel": texel,
}


def path_of(name: str) -> Path:
    """Return the file of a picture."""
    return FOLDER / f"{name}.svg"


def stamp_of(name: str) -> str:
    """Return the comment at the end of the picture, a digest of its data and code."""
    picture = PICTURES[name]
    code = [inspect.getsource(module) for module in (canvas, picture)]
    content = json.dumps([picture.data(), code], sort_keys=True)
    return f"<!-- {sha256(content.encode()).hexdigest()[:16]} -->\n"


def is_current(name: str) -> bool:
    """Return whether the file of a picture shows the current data."""
    path = path_of(name)
    return path.exists() and path.read_text(encoding="utf-8").endswith(stamp_of(name))


def main() -> None:
    """Draw the pictures that are out of date."""
    for name, picture in PICTURES.items():
        if is_current(name):
            continue
        text = io.StringIO()
        with canvas.figure(*picture.SIZE) as figure:
            picture.draw(figure, picture.data())
            figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
        lines = (line.rstrip() for line in text.getvalue().splitlines())
        path_of(name).write_text("\n".join(lines) + "\n" + stamp_of(name), encoding="utf-8")
        print(f"drew {path_of(name).relative_to(FOLDER.parents[1])}")


if __name__ == "__main__":
    main()
