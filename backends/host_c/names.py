"""Names of C: identifiers made from names of tensors and models.

No identifier of a package can be one of C, of OpenCL, of a header or of another package, because
each begins with a word that says what it names (`slot_x`) or with the name of the model and such a
word (`DIGITS_INPUT_X`). So keywords and names such as `main` need no table here; files, targets and
functions bear the name of the model alone, and for these there is one.
"""

from __future__ import annotations

import hashlib
import re

from ...errors import CloptError
from ...messages.printable import printable

SIGNIFICANT = 63
"""Characters by which every compiler of C99 tells identifiers apart, but those of functions."""

# Of functions 31 are sure to count: `<name>_arena_count` and `<name>_arena_size` differ in the
# eighth behind the name.
_LONGEST_MODEL = 23
_LONGEST_GIVEN = 40
_LONGEST = 48
_HASH_DIGITS = 8

# What the package's own files and targets are called, and CMake's targets.
_FILES = set(
    "main all all_build clean depend edit_cache help install package package_source preinstall "
    "rebuild_cache run_tests test zero_check".split()
)

# A package has the header <name>.h in a folder that applications search: those of C and POSIX.
_HEADERS = set(
    "aio assert complex cpio ctype dirent dlfcn errno fcntl fenv float fmtmsg fnmatch ftw glob grp "
    "iconv inttypes iso646 langinfo libgen limits locale malloc math memory monetary mqueue ndbm "
    "netdb nl_types poll pthread pwd regex sched search semaphore setjmp signal spawn stdalign "
    "stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string strings stropts syslog "
    "tar termios tgmath threads time trace uchar ulimit unistd utime utmpx wchar wctype "
    "wordexp".split()
)

# C's and POSIX's libraries have <name>_create or <name>_destroy.
_FUNCTIONS = {"cnd", "mq", "mtx", "pthread", "sem", "shm", "thrd", "timer", "tss"}


def check_model_name(name: str) -> str:
    """`name`, which files and functions of a model will bear; CloptError if they cannot."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise CloptError(
            f'"{printable(name)}" cannot begin the names of C functions; give a name of letters, '
            "digits and underscores that starts with a letter."
        )
    if len(name) > _LONGEST_GIVEN:
        raise CloptError(
            f'"{printable(name, 20)}" is too long for the names of C functions; give a name of at '
            f"most {_LONGEST_GIVEN} characters."
        )
    if _is_taken(name.lower()):
        raise CloptError(f'A model cannot have the name "{name}"; give it another one.')
    return name


def model_name(stem: str) -> str:
    """A name for the model of a file called `stem`."""
    name = identifier(stem, _LONGEST_MODEL)
    if not name[0].isalpha() or _is_taken(name.lower()):
        name = identifier(f"model_{stem}", _LONGEST_MODEL)
    return name


def _is_taken(name: str) -> bool:
    taken = _FILES | _HEADERS | _FUNCTIONS
    return name in taken or re.match(r"clopt|cl(_|$)|pthread_", name) is not None


def identifier(name: str, longest: int = _LONGEST) -> str:
    """What is left of `name` in an identifier; of a longer one the beginning, and a hash of all."""
    word = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_") or "_"
    if len(word) <= longest:
        return word
    digest = hashlib.sha256(name.encode(errors="backslashreplace")).hexdigest()[:_HASH_DIGITS]
    return f"{word[: longest - _HASH_DIGITS - 1].rstrip('_')}_{digest}"


class Names:
    """Gives each thing an identifier of its own."""

    def __init__(self, *taken: str):
        self._count: dict[str, int] = dict.fromkeys(taken, 1)

    def add(self, wanted: str) -> str:
        """`wanted`, or with a number behind it if that is taken."""
        name = wanted
        while name in self._count:
            name = f"{wanted}_{self._count[wanted]}"
            self._count[wanted] += 1
        self._count[name] = 1
        return name
