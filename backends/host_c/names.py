"""C identifiers made from the names of tensors and models.

Each identifier of a package begins with a word for its kind (`slot_x`), or with the name of the
model and such a word (`DIGITS_INPUT_X`). It therefore cannot clash with C, OpenCL, a header or
another package, and keywords and names such as `main` need no table. Only files, targets and
functions have the bare name of the model, which is therefore checked against a table.
"""

from __future__ import annotations

import hashlib
import re

from ...errors import CloptError
from ...messages.printable import printable

SIGNIFICANT = 63
"""Significant characters of identifiers without external linkage in every C99 compiler."""

# External identifiers have 31 significant characters, and `<name>_arena_count` and
# `<name>_arena_size` differ only in the 8th character after the name.
_LONGEST_MODEL = 23
_LONGEST_GIVEN = 40
_LONGEST = 48
_HASH_DIGITS = 8

# Names of the package's own files and targets, and of CMake's built-in targets.
_FILES = set(
    "main all all_build clean depend edit_cache help install package package_source preinstall "
    "rebuild_cache run_tests test zero_check".split()
)

# The package has the header <name>.h in an include folder of applications, so it must not shadow
# the headers of C and POSIX.
_HEADERS = set(
    "aio assert complex cpio ctype dirent dlfcn errno fcntl fenv float fmtmsg fnmatch ftw glob grp "
    "iconv inttypes iso646 langinfo libgen limits locale malloc math memory monetary mqueue ndbm "
    "netdb nl_types poll pthread pwd regex sched search semaphore setjmp signal spawn stdalign "
    "stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string strings stropts syslog "
    "tar termios tgmath threads time trace uchar ulimit unistd utime utmpx wchar wctype "
    "wordexp".split()
)

# The libraries of C and POSIX have functions <name>_create or <name>_destroy.
_FUNCTIONS = {"cnd", "mq", "mtx", "pthread", "sem", "shm", "thrd", "timer", "tss"}


def check_model_name(name: str) -> str:
    """Return `name` if the files and functions of a model can have it; else raise CloptError."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise CloptError(
            f'"{printable(name)}" cannot begin the names of C functions; use only letters, '
            "digits and underscores, starting with a letter."
        )
    if len(name) > _LONGEST_GIVEN:
        raise CloptError(
            f'"{printable(name, 20)}" is too long for the names of C functions; use at '
            f"most {_LONGEST_GIVEN} characters."
        )
    if _is_taken(name.lower()):
        raise CloptError(f'A model cannot have the reserved name "{name}"; choose another one.')
    return name


def model_name(stem: str) -> str:
    """Return a name for the model of a file called `stem`."""
    name = identifier(stem, _LONGEST_MODEL)
    if not name[0].isalpha() or _is_taken(name.lower()):
        name = identifier(f"model_{stem}", _LONGEST_MODEL)
    return name


def _is_taken(name: str) -> bool:
    taken = _FILES | _HEADERS | _FUNCTIONS
    return name in taken or re.match(r"clopt|cl(_|$)|pthread_", name) is not None


def identifier(name: str, longest: int = _LONGEST) -> str:
    """Return `name` as part of an identifier; a long name is cut and gets a hash."""
    word = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_") or "_"
    if len(word) <= longest:
        return word
    digest = hashlib.sha256(name.encode(errors="backslashreplace")).hexdigest()[:_HASH_DIGITS]
    return f"{word[: longest - _HASH_DIGITS - 1].rstrip('_')}_{digest}"


class Names:
    """A set of unique identifiers."""

    def __init__(self, *reserved: str):
        self._count: dict[str, int] = dict.fromkeys(reserved, 1)

    def add(self, wanted: str) -> str:
        """Return `wanted`, with a number appended if it is taken."""
        name = wanted
        while name in self._count:
            name = f"{wanted}_{self._count[wanted]}"
            self._count[wanted] += 1
        self._count[name] = 1
        return name
