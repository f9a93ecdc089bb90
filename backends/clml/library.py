"""C sources as shared libraries in the user's cache, compiled once per machine.

OpenCL's functions stay undefined in the libraries; the process must have loaded OpenCL globally
before.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ...errors import CloptError, UnavailableError
from ...files.caches import is_private, make_private, process_folder, user_cache
from ...files.folders import forget_oldest
from ...files.resources import read_sources
from ...messages.printable import printable

_COMPILERS = ("cc", "gcc", "clang")
_COMPILE = ("-std=c99", "-O1", "-fPIC")
_LINK = {
    # -Bsymbolic: the libraries of several models define the same functions, and each must call its
    # own.
    "linux": ("-shared", "-Wl,-Bsymbolic"),
    "darwin": ("-dynamiclib", "-undefined", "dynamic_lookup"),
}
_FORMAT = "2"  # version of the cache

# Entries that are kept when a new one is added: a small model takes about 100 KB.
_KEPT = 1000
_MOST_SECONDS = 300.0
"""Limit for one call of the C compiler; a unit takes a second or two."""

_NO_COMPILER = (
    "Programs with CLML run as C, but there is no C compiler; install gcc or clang, set the "
    "environment variable CC, or compile the model with clml=off."
)
_NO_HEADERS = (
    "Programs with CLML run as C, but there are no OpenCL headers; install opencl-c-headers "
    "(Debian's name), set the environment variable CPATH to the folder above CL/cl.h, or compile "
    "the model with clml=off."
)
_ENGLISH = {"LC_ALL": "C"}
_NO_HEADER = re.compile(r"fatal error: '?CL/cl\w*\.h\b")
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', re.MULTILINE)


def default_library_folder() -> Path:
    """Return the default folder of libraries."""
    return user_cache("libraries") or process_folder()


@dataclass(frozen=True)
class Sources:
    """C files by path; all `.c` files form one library."""

    files: Mapping[str, bytes]
    include: tuple[str, ...] = ()
    """Include folders among `files`, in addition to the folder of each source."""
    system_include: tuple[str, ...] = ()
    """Include folders of this machine, which are searched after those."""
    _headers: dict[str, tuple[str, ...]] = field(
        default_factory=dict[str, tuple[str, ...]], init=False, repr=False, compare=False
    )

    @property
    def units(self) -> list[str]:
        """The files to compile."""
        return sorted(path for path in self.files if path.endswith(".c"))

    def read_by(self, path: str) -> list[str]:
        """Return the file and the headers among `files` that it includes, even indirectly."""
        paths = {path: None}
        waiting = [path]
        while waiting:
            for header in self._included(waiting.pop()):
                if header not in paths:
                    paths[header] = None
                    waiting.append(header)
        return sorted(paths)

    def _included(self, path: str) -> tuple[str, ...]:
        if path not in self._headers:
            names = [match.decode() for match in _INCLUDE.findall(self.files[path])]
            folders = [str(PurePosixPath(path).parent), *self.include]
            candidates = [str(PurePosixPath(folder) / n) for n in names for folder in folders]
            self._headers[path] = tuple(c for c in candidates if c in self.files)
        return self._headers[path]


def build_library(sources: Sources, folder: Path | None = None) -> Path:
    """Build the shared library of `sources`, or take it from the cache in `folder`.

    Objects are cached, too, so files that models share are compiled only once. Processes may share
    the folder, because files are written atomically. A cached file is only used if no other user
    could have written it, and if its content matches its name. If the folder is not writable or
    belongs to another user, the library only lives as long as this process. Raises CloptError
    without a compiler or OpenCL headers.
    """
    folder = folder or default_library_folder()
    objects = {unit: _object_key(sources, unit) for unit in sources.units}
    key = _digest(*objects.values(), *_link_options())
    if (kept := _find(folder, key, _suffix())) is not None:
        return kept
    if not make_private(folder):
        folder = process_folder()
    compiler = _find_compiler()
    with tempfile.TemporaryDirectory(dir=folder, prefix=".") as scratch:
        place = Path(scratch)
        for path, content in sources.files.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_bytes(content)
        include = [f"-I{place / path}" for path in sources.include]
        include += [f"-I{path}" for path in sources.system_include]

        def object_of(unit: str) -> Path:
            if (kept := _find(folder, objects[unit], ".o")) is not None:
                return kept
            path = place / f"{objects[unit]}.o"
            words = [*_COMPILE, *include, "-c", str(place / unit), "-o", str(path)]
            _run(compiler, words, place)
            return _keep(path, folder, objects[unit])

        with ThreadPoolExecutor(os.cpu_count()) as threads:
            paths = list(threads.map(object_of, objects))
        library = place / f"library{_suffix()}"
        _run(compiler, [*map(str, paths), *_link_options(), "-o", str(library)], place)
        library = _keep(library, folder, key)
    forget_oldest(folder, "[!.]*", _KEPT)
    return library


def _link_options() -> tuple[str, ...]:
    return _LINK.get(sys.platform, ("-shared",))


def _suffix() -> str:
    return ".dylib" if sys.platform == "darwin" else ".so"


def _object_key(sources: Sources, unit: str) -> str:
    parts = [part for path in sources.read_by(unit) for part in (path, sources.files[path])]
    return _digest(*_COMPILE, *sources.system_include, *parts)


def _digest(*parts: str | bytes) -> str:
    digest = hashlib.sha256()
    for part in (_FORMAT, sys.platform, platform.machine(), *parts):
        content = part.encode() if isinstance(part, str) else part
        digest.update(len(content).to_bytes(8, "little") + content)
    return digest.hexdigest()


def _find(folder: Path, key: str, suffix: str) -> Path | None:
    """Return the file cached for `key`, or None; using it protects it from deletion."""
    for path in sorted(folder.glob(f"{key}-*{suffix}")):
        with suppress(OSError):  # another process may delete it meanwhile
            if is_private(path) and path.name == _kept_name(key, path):
                os.utime(path)
                return path
    return None


def _keep(made: Path, folder: Path, key: str) -> Path:
    """Move a file to `folder`, under a name that identifies its key and its content."""
    kept = folder / _kept_name(key, made)
    made.chmod(0o700)
    os.replace(made, kept)
    return kept


def _kept_name(key: str, path: Path) -> str:
    return f"{key}-{_digest(key, path.read_bytes())}{path.suffix}"


def _find_compiler() -> list[str]:
    """Return the command that compiles C."""
    if chosen := os.environ.get("CC"):
        try:
            return shlex.split(chosen)
        except ValueError as error:
            raise CloptError(
                f"CC={printable(chosen)}: {error}; quote its words as a shell does."
            ) from error
    for name in _COMPILERS:
        if path := shutil.which(name):
            return [path]
    raise UnavailableError(_NO_COMPILER)


def _run(compiler: Sequence[str], words: Sequence[str], folder: Path) -> None:
    command = [*compiler, *words]
    done = _start(command)
    if not done.returncode:
        return
    if _NO_HEADER.search(done.stderr):
        raise UnavailableError(_NO_HEADERS)
    _check_compiler(compiler, folder)
    raise RuntimeError(
        "The C compiler rejects what clopt generated; this is a bug of clopt, please report it "
        f"with this message.\n{shlex.join(command)}\n{done.stderr}"
    )


def _check_compiler(compiler: Sequence[str], folder: Path) -> None:
    """Raise CloptError if the compiler cannot build a minimal library, as without C headers."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:  # threads run this concurrently
        source = Path(scratch, "check.c")
        source.write_text("#include <stdlib.h>\nint check(void) { return EXIT_SUCCESS; }\n")
        made = ["-o", str(Path(scratch, "check.so"))]
        done = _start([*compiler, *_COMPILE, str(source), *_link_options(), *made])
    if done.returncode:
        lines = done.stderr.splitlines() or [f"it exits with the status {done.returncode}"]
        raise UnavailableError(
            f"Programs with CLML run as C, but the C compiler {shlex.join(compiler)} does not work "
            f"({lines[0]}); install gcc and the C headers (libc6-dev, Debian's name), set the "
            "environment variable CC to another compiler, or compile the model with clml=off."
        )


def _start(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            env=os.environ | _ENGLISH,
            stdin=subprocess.DEVNULL,
            timeout=_MOST_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(
            f"The C compiler {command[0]} did not finish within {_MOST_SECONDS:g} s; set the "
            "environment variable CC to another one, or compile the model with clml=off."
        ) from error
    except OSError as error:
        raise UnavailableError(f"{_NO_COMPILER} ({command[0]}: {error.strerror})") from error


def reference_library(folder: Path | None = None) -> Path:
    """Build our implementation of CLML for any OpenCL device; see `build_library`."""
    texts = read_sources(__name__, "reference")
    files = {path: text.encode() for path, text in texts.items()}
    return build_library(Sources(files, ("include",)), folder)
