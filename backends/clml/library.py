"""C sources as shared libraries in the user's cache: compiled once on a machine.

Libraries leave OpenCL's functions open. Whoever loads one has loaded OpenCL before, for all to see.
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
    # Libraries of several models define the same functions: each calls its own.
    "linux": ("-shared", "-Wl,-Bsymbolic"),
    "darwin": ("-dynamiclib", "-undefined", "dynamic_lookup"),
}
_FORMAT = "2"  # of the cache

# Entries that are left when a new one is made: a small model takes 100 kilobytes.
_KEPT = 1000
_MOST_SECONDS = 300.0
"""Of one call of the C compiler; a unit takes a second or two."""

_NO_COMPILER = (
    "Programs with CLML run as C, and there is no C compiler; install gcc or clang, name one in "
    "the environment variable CC, or compile the model with clml=off."
)
_NO_HEADERS = (
    "Programs with CLML run as C, and there are no headers of OpenCL; install opencl-c-headers "
    "(Debian's name), name the folder above CL/cl.h in the environment variable CPATH, or compile "
    "the model with clml=off."
)
_ENGLISH = {"LC_ALL": "C"}
_NO_HEADER = re.compile(r"fatal error: '?CL/cl\w*\.h\b")
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', re.MULTILINE)


def default_library_folder() -> Path:
    """Where libraries are kept unless the caller says otherwise."""
    return user_cache("libraries") or process_folder()


@dataclass(frozen=True)
class Sources:
    """C files by their paths; all `.c` files make one library."""

    files: Mapping[str, bytes]
    include: tuple[str, ...] = ()
    """Folders of `files` with headers, beside that of each source."""
    system_include: tuple[str, ...] = ()
    """Folders of this machine with headers, which come after those."""
    _headers: dict[str, tuple[str, ...]] = field(
        default_factory=dict[str, tuple[str, ...]], init=False, repr=False, compare=False
    )

    @property
    def units(self) -> list[str]:
        """The files to compile."""
        return sorted(path for path in self.files if path.endswith(".c"))

    def read_by(self, path: str) -> list[str]:
        """The file and the headers among `files` that it includes, those of headers included."""
        found = {path: None}
        waiting = [path]
        while waiting:
            for header in self._included(waiting.pop()):
                if header not in found:
                    found[header] = None
                    waiting.append(header)
        return sorted(found)

    def _included(self, path: str) -> tuple[str, ...]:
        if path not in self._headers:
            names = [match.decode() for match in _INCLUDE.findall(self.files[path])]
            folders = [str(PurePosixPath(path).parent), *self.include]
            candidates = [str(PurePosixPath(folder) / n) for n in names for folder in folders]
            self._headers[path] = tuple(c for c in candidates if c in self.files)
        return self._headers[path]


def build_library(sources: Sources, folder: Path | None = None) -> Path:
    """The shared library of `sources`, from the cache in `folder` where it is there.

    Objects are kept, too: what models have in common is compiled for the first. Processes may share
    a folder; a file appears whole or not at all. A file is taken from it only if nobody but this
    user could have written it, and if its content is what was written. Where the folder cannot be
    written or is somebody else's, the library lives as long as this process. CloptError without a
    compiler or without OpenCL's headers.
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
    """The file that was kept for `key`; it becomes the last to be forgotten."""
    for path in sorted(folder.glob(f"{key}-*{suffix}")):
        with suppress(OSError):  # removed by another process
            if is_private(path) and path.name == _kept_name(key, path):
                os.utime(path)
                return path
    return None


def _keep(made: Path, folder: Path, key: str) -> Path:
    """Move a file to `folder`, under a name that tells its key and its content."""
    kept = folder / _kept_name(key, made)
    made.chmod(0o700)
    os.replace(made, kept)
    return kept


def _kept_name(key: str, path: Path) -> str:
    return f"{key}-{_digest(key, path.read_bytes())}{path.suffix}"


def _find_compiler() -> list[str]:
    """The words of the command that compiles C."""
    if chosen := os.environ.get("CC"):
        try:
            return shlex.split(chosen)
        except ValueError as error:
            raise CloptError(
                f"CC={printable(chosen)}: {error}; quote its words as a shell does."
            ) from error
    for name in _COMPILERS:
        if found := shutil.which(name):
            return [found]
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
        "The C compiler refuses what clopt wrote; this is a bug of clopt, please report it with "
        f"this message.\n{shlex.join(command)}\n{done.stderr}"
    )


def _check_compiler(compiler: Sequence[str], folder: Path) -> None:
    """CloptError where it cannot make a library of next to nothing, as without headers of C."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:  # one of each thread
        source = Path(scratch, "check.c")
        source.write_text("#include <stdlib.h>\nint check(void) { return EXIT_SUCCESS; }\n")
        made = ["-o", str(Path(scratch, "check.so"))]
        done = _start([*compiler, *_COMPILE, str(source), *_link_options(), *made])
    if done.returncode:
        lines = done.stderr.splitlines() or [f"it ends with the status {done.returncode}"]
        raise UnavailableError(
            f"Programs with CLML run as C, and the C compiler {shlex.join(compiler)} does not work "
            f"({lines[0]}); install gcc and the headers of C (libc6-dev, Debian's name), name "
            "another compiler in the environment variable CC, or compile the model with clml=off."
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
            f"The C compiler {command[0]} has not ended within {_MOST_SECONDS:g} s; name another "
            "one in the environment variable CC, or compile the model with clml=off."
        ) from error
    except OSError as error:
        raise UnavailableError(f"{_NO_COMPILER} ({command[0]}: {error.strerror})") from error


def reference_library(folder: Path | None = None) -> Path:
    """Our implementation of CLML for any OpenCL device; see `build_library`."""
    texts = read_sources(__name__, "reference")
    files = {path: text.encode() for path, text in texts.items()}
    return build_library(Sources(files, ("include",)), folder)
