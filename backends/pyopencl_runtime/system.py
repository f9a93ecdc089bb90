"""Facts about this machine's processor, as the operating system reports them."""

from __future__ import annotations

import platform
import re
from functools import cache
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_IDENTITY = ("vendor_id", "cpu family", "model", "model name", "stepping", "flags", "Features")


def has_avx512() -> bool:
    """Return whether the processor has AVX-512; False if the system does not report it."""
    return " avx512vl " in f"{_processor_lines().get('flags', '')} "


def has_byte_products() -> bool:
    """Return whether the processor has AVX-512 VNNI; False if the system does not report it."""
    return " avx512_vnni " in f"{_processor_lines().get('flags', '')} "


def processor() -> str:
    """Return a text that identifies the processor, including features beyond its name."""
    lines = _processor_lines()
    identity = "; ".join(lines[key] for key in _IDENTITY if key in lines)
    return identity or f"{platform.machine()} {platform.processor()}"


def data_cache_bytes() -> dict[int, int]:
    """Return the bytes of a core's data caches by level, as far as the system reports them."""
    sizes: dict[int, int] = {}
    for folder in sorted(_CACHES.glob("index*")):
        try:
            kind, level, size = (_read(folder / name) for name in ("type", "level", "size"))
        except OSError:
            continue
        kilobytes = re.fullmatch(r"(\d+)K", size)
        if kind in ("Data", "Unified") and level.isdecimal() and kilobytes:
            sizes[int(level)] = int(kilobytes[1]) << 10
    return sizes


@cache
def _processor_lines() -> dict[str, str]:
    """Return the entries about the first processor in /proc/cpuinfo."""
    try:
        text = _CPUINFO.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    pairs = (line.partition(":") for line in text.partition("\n\n")[0].splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def _read(path: Path) -> str:
    return path.read_text(encoding="ascii", errors="replace").strip()
