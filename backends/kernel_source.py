"""Analysis of kernel source text: its kernels, and the device features that they need."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from functools import lru_cache

ROUNDING_OPTION = "-cl-fp32-correctly-rounded-divide-sqrt"
"""The option of clBuildProgram with which `/` and `sqrt` of floats are correctly rounded. Devices
that support it report CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT in their CL_DEVICE_SINGLE_FP_CONFIG."""

# The form that `opencl_c` prints: directives, then functions that kernels call, then kernels, where
# each definition ends with a `}` on a line of its own.
_KERNEL = re.compile(r"(?:\s|//.*\n)*(?:__attribute__\(.*\)\s*)?__kernel void (\w+)\(")
_FUNCTION = re.compile(r"(?:\s|//.*\n)*static \w+ (\w+)\(")
_COMMENT = re.compile(r"//.*|/\*(?s:.*?)\*/")
_END_OF_FUNCTION = "\n}\n"


class Feature(Enum):
    """A feature beyond the core of OpenCL 1.2; the value matches source texts that need it.

    A source that computes in an optional type enables its extension by a pragma, as OpenCL
    requires. `opencl_c` prints the pragma exactly if the extension is needed. Other authors may
    omit it, so the types count as well. C cannot express that results depend on correctly rounded
    divisions, so a comment in the kernel does.
    """

    # Without the extension, OpenCL C 1.2 (6.1.1.1) allows pointers to `half`, for vload_half and
    # vstore_half, but neither values of that type nor pointers to vectors of it.
    # Each alternative begins with a letter: `re` takes 30 times as long to look for a `\b` first.
    FP16 = (
        r"cl_khr_fp16\s*:\s*enable|half(?<=\bhalf)(\b(?!\s*\*)|(2|3|4|8|16)\b)"
        r"|as_half(?<=\bas_half)|convert_half(?<=\bconvert_half)"
        r"|read_imageh\b(?<=\bread_imageh)|write_imageh\b(?<=\bwrite_imageh)"
    )
    FP64 = r"cl_khr_fp64\s*:\s*enable|\bdouble(2|3|4|8|16)?\b|\b(as|convert)_double"
    ROUNDING = rf"//.*{ROUNDING_OPTION}"
    DOTS = r"\bdot_4x8packed_us_int\b"
    PTX_DOTS = r"\bdp4a\."
    IMAGES = r"\bimage[123]d_(buffer_|array_)?t\s+\w"


# Every source with a feature contains one of its words. Most contain none, and searching for words
# takes a hundredth of the time of the patterns.
_WORDS = {
    Feature.FP16: ("fp16", "half", "imageh"),
    Feature.FP64: ("fp64", "double"),
    Feature.ROUNDING: (ROUNDING_OPTION,),
    Feature.DOTS: ("dot_4x8packed_us_int",),
    Feature.PTX_DOTS: ("dp4a.",),
    Feature.IMAGES: ("image1d_", "image2d_", "image3d_"),
}


@lru_cache(maxsize=16)
def features_of(source: str) -> frozenset[Feature]:
    """Return the features that a device needs to run the kernels of `source`."""
    likely = [feature for feature, words in _WORDS.items() if any(w in source for w in words)]
    if not likely:
        return frozenset()
    code = _COMMENT.sub(" ", source)
    return frozenset(
        feature
        for feature in likely
        if re.search(feature.value, source if feature is Feature.ROUNDING else code)
    )


def standard_of(source: str) -> str:
    """Return the OpenCL C version of `source`, as in the option -cl-std=."""
    # OpenCL C 1.2 lacks the functions of the extension.
    return "CL3.0" if Feature.DOTS in features_of(source) else "CL1.2"


def _called(functions: Mapping[str, str], text: str) -> list[str]:
    """Return the texts of the functions that a text calls, directly or through others."""
    found: list[str] = []
    for name, body in reversed(list(functions.items())):  # functions precede their callers
        if any(f"{name}(" in caller for caller in (text, *found)):
            found.append(body)
    return found[::-1]


@lru_cache(maxsize=4)
def split_kernels(source: str) -> Mapping[str, str]:
    """Return the text of each kernel of a source that we printed, by name.

    Each text contains the directives, and the functions that the kernel calls. The result is empty
    if the source has another form, for instance functions between the kernels.
    """
    lines = source.split("\n")
    directives = "".join(f"{line}\n" for line in lines if line.startswith("#"))
    code = "\n".join(line for line in lines if not line.startswith("#"))
    functions: dict[str, str] = {}
    kernels: dict[str, str] = {}
    *bodies, rest = code.split(_END_OF_FUNCTION)
    for text in (*(body + _END_OF_FUNCTION for body in bodies), rest):
        if start := _KERNEL.match(text):
            kernels[start[1]] = directives + "".join(_called(functions, text)) + text
        elif (start := _FUNCTION.match(text)) and not kernels:
            functions[start[1]] = text
        elif text.strip():
            return {}
    return kernels
