"""What can be read off a text of kernels: the single kernels, and what they ask of a device."""

from __future__ import annotations

import re
from enum import Enum

# The form in which `opencl_c` prints: directives, then kernels, each ending with a `}` of its own.
_DIRECTIVE = re.compile(r"(?m)^#.*\n")
_KERNEL = re.compile(r"(?:\s|//.*\n)*(?:__attribute__\(.*\)\s*)?__kernel void (\w+)\(")
_END_OF_FUNCTION = re.compile(r"(?m)(?<=^}\n)")


class Feature(Enum):
    """Something beyond the core of OpenCL 1.2; its value is what stands in a text that needs it."""

    # Storing halves needs nothing: pointers to them and vload_half are not meant.
    FP16 = r"\b(half\d* \w|half\d*\)|convert_half|as_half|(read|write)_imageh)"
    FP64 = r"\bcl_khr_fp64\b"
    IMAGES = r"\bimage[12]d_(buffer_|array_)?t\b"


def features_of(source: str) -> frozenset[Feature]:
    """What a device needs to run the kernels of `source`."""
    return frozenset(feature for feature in Feature if re.search(feature.value, source))


def split_kernels(source: str) -> dict[str, str]:
    """The text of each kernel of a source that we printed, with the directives that precede all.

    Empty when the source has another form, for instance functions that kernels share.
    """
    directives = "".join(_DIRECTIVE.findall(source))
    kernels: dict[str, str] = {}
    for text in _END_OF_FUNCTION.split(_DIRECTIVE.sub("", source)):
        if start := _KERNEL.match(text):
            kernels[start[1]] = directives + text
        elif text.strip():
            return {}
    return kernels
