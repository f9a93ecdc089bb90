"""A clone of the repository that lies in the current folder hides what pip installed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from clopt import clone
from clopt.errors import CloptWarning
from support import processes

ROOT = Path(__file__).parents[2]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages with an installation of clopt."""
    monkeypatch.chdir(ROOT.parent)
    site = tmp_path / "site-packages"
    (site / "clopt").mkdir(parents=True)
    (site / "clopt" / "__init__.py").touch()
    (site / "clopt-0.0.1.dist-info").mkdir()
    (site / "clopt-0.0.1.dist-info" / "METADATA").write_text("Name: clopt\nVersion: 0.0.1\n")
    monkeypatch.setattr(sys, "path", ["", str(site), *sys.path])
    # The tests may run with an installed package.
    monkeypatch.setattr(clone, "__file__", str(ROOT / "clone.py"))
    return site


def test_a_clone_that_hides_an_installation_says_so(site: Path) -> None:
    with pytest.warns(CloptWarning, match=r"clone .* hides the installation in") as w:
        clone.warn_of_hidden_installation.__wrapped__()
    assert str(site / "clopt") in str(w[0].message)


def test_an_installation_and_an_editable_one_say_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    assert clone._installed_elsewhere(Path(clone.__file__).parent) is None
    monkeypatch.setattr(clone, "__file__", str(tmp_path / "clone.py"))
    clone.warn_of_hidden_installation.__wrapped__()
    assert not recwarn.list


def test_the_clone_in_the_current_folder_is_what_python_imports(tmp_path: Path) -> None:
    """What docs/python.md says."""
    (tmp_path / "clopt").symlink_to(ROOT)
    done = processes.run(
        [sys.executable, "-c", "import clopt; print(clopt.__file__)"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == str(tmp_path / "clopt" / "__init__.py")
