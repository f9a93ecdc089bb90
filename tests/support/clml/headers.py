"""Headers of CLML that differ from our own: other names, other versions.

Nobody may publish the vendor's header. A header in which everything has another name but what
public programs use shows that emitted C relies on nothing else.
"""

from __future__ import annotations

import re
from pathlib import Path

import clopt.backends.clml

_OURS = Path(clopt.backends.clml.__file__).parent / "reference" / "include" / "CL"
_PUBLIC = {"cl_ml_tensor_desc_qcom": {"num_dimensions"}}
_PUBLIC["cl_ml_tensor_memory_desc_qcom"] = {"tensor", "memory"}
_MEMBERS = {"num_dimensions", "tensor", "memory"}

# Names by which a program and the reference library check that they belong together.
_KEPT = {"CLML_REFERENCE_HEADER", "CL_QCOM_ML_OPS_H", "CL_EXT_QCOM_H", "cl_ext_qcom"}
_C = set(
    "typedef struct enum union const void char unsigned static inline extern return int NULL "
    "include define ifndef ifdef endif if else elif defined error __cplusplus "
    "size_t uint32_t intptr_t CL stdint h".split()
)

_SIXTH = """
#define CL_QCOM_ML_OPS_H_MAJOR_VERSION 6
typedef struct CLMLInterfaceV6QCOM {
    cl_int(CL_API_CALL *clCreateMLTensorOfVersion6QCOM)(cl_context context);
} CLMLInterfaceV6QCOM;
"""


def public_names() -> set[str]:
    """The identifiers that public programs use."""
    lines = (Path(__file__).parent / "public_names.txt").read_text().splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def write_renamed(folder: Path) -> Path:
    """Our headers for `-I`, in which whatever is not public is called `other_...`."""
    texts = {path.name: _plain(path.read_text()) for path in _OURS.glob("*.h")}
    words = {word for text in texts.values() for word in re.findall(r"\b[A-Za-z_]\w*\b", text)}
    kept = public_names() | _opencl() | _KEPT | _C | _MEMBERS
    changed = {word: f"other_{word}" for word in words - kept}
    for name, text in texts.items():
        renamed = re.sub(r"\b[A-Za-z_]\w*\b", lambda m: changed.get(m[0], m[0]), text)
        hidden = re.sub(r"typedef struct (\w+) \{.*?\}", _hide_members, renamed, flags=re.S)
        _write(folder, name, hidden)
    return folder


def write_version(folder: Path, version: int) -> Path:
    """Our headers for `-I`, as an SDK of this version would have them; 6: one of the future."""
    for path in _OURS.glob("*.h"):
        text = path.read_text()
        if version <= 5:
            text = text.replace(
                "#define CL_QCOM_ML_OPS_H_MAJOR_VERSION 5",
                f"#define CL_QCOM_ML_OPS_H_MAJOR_VERSION {version}",
            )
        elif path.name == "cl_qcom_ml_ops.h":
            start, end = text.rsplit("#ifdef __cplusplus", 1)
            text = f"{start}#undef CL_QCOM_ML_OPS_H_MAJOR_VERSION{_SIXTH}#ifdef __cplusplus{end}"
        _write(folder, path.name, text)
    return folder


def _write(folder: Path, name: str, text: str) -> None:
    (folder / "CL").mkdir(parents=True, exist_ok=True)
    (folder / "CL" / name).write_text(text)


def _plain(text: str) -> str:
    """A header without its comments, and without the functions that public programs do not use."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.sub(r"#define CLML_REFERENCE_GETTER.*?(?=extern)", "", text, flags=re.S)


def _opencl() -> set[str]:
    """The text of OpenCL's own headers."""
    folder = Path("/usr/include/CL")
    names = ("cl.h", "cl_platform.h", "cl_version.h")
    texts = [(folder / name).read_text() for name in names]
    return {word for text in texts for word in re.findall(r"\b[A-Za-z_]\w*\b", text)}


def _hide_members(match: re.Match[str]) -> str:
    """The structure with the members renamed whose names another one has in public."""
    hidden = _MEMBERS - _PUBLIC.get(match[1], set())
    return re.sub(rf"\b({'|'.join(sorted(hidden))})\b(?=[\[;])", r"other_\1", match[0])
