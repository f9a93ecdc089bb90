"""Reads a text of kernels: which kernels it has, and which features of a device they need."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache

ROUNDING_OPTION = "-cl-fp32-correctly-rounded-divide-sqrt"
"""The option of clBuildProgram by which `/` and `sqrt` of floats are rounded correctly. Devices
that take it have CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT in their CL_DEVICE_SINGLE_FP_CONFIG."""

# The form in which `opencl_c` prints: directives, functions that kernels call, then kernels, each
# ending with a `}` of its own.
_KERNEL = re.compile(r"(?:\s|//.*\n)*(?:__attribute__\(.*\)\s*)?__kernel void (\w+)\(")
_FUNCTION = re.compile(r"(?:\s|//.*\n)*static \w+ (\w+)\(")
_COMMENT = re.compile(r"//.*|/\*(?s:.*?)\*/")
_END_OF_FUNCTION = "\n}\n"


class Feature(Enum):
    """Something beyond the core of OpenCL 1.2; its value matches the texts that need it.

    A text that computes in an optional type enables its extension by a pragma, as OpenCL asks for.
    `opencl_c` prints the pragma exactly where the device needs the extension. Other authors may
    leave it out, so the types count as well. That results depend on correctly rounded divisions is
    said by a comment in the kernel, as C has no word for it.
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


# Texts with a feature have one of these. Most have none: looking for words takes a hundredth of the
# time of the patterns.
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
    """The features that a device needs to run the kernels of `source`."""
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
    """Return the version of OpenCL C of `source`, as the option -cl-std= names it."""
    # OpenCL C 1.2 has no functions of the extension.
    return "CL3.0" if Feature.DOTS in features_of(source) else "CL1.2"


def split_kernels(source: str) -> dict[str, str]:
    """The text of each kernel of a source that we printed, with the directives that precede all,
    and the functions that it calls.

    Empty when the source has another form, for instance functions among the kernels.
    """
    lines = source.split("\n")
    directives = "".join(f"{line}\n" for line in lines if line.startswith("#"))
    code = "\n".join(line for line in lines if not line.startswith("#"))
    functions: dict[str, str] = {}
    kernels: dict[str, str] = {}
    *bodies, rest = code.split(_END_OF_FUNCTION)
    for text in (*(body + _END_OF_FUNCTION for body in bodies), rest):
        if start := _KERNEL.match(text):
            called = (body for name, body in functions.items() if f"{name}(" in text)
            kernels[start[1]] = directives + "".join(called) + text
        elif (start := _FUNCTION.match(text)) and not kernels:
            functions[start[1]] = text
        elif text.strip():
            return {}
    return kernels
