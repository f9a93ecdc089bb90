"""The header compiles by itself as strict C99 and C++, in each version that it can have."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from support import processes
from support.clml.reference.sources import INCLUDE, REFERENCE

HEADERS = REFERENCE / "include" / "CL"
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow")
COMPILERS = {
    ("gcc", "c99", ".c"),
    ("clang", "c99", ".c"),
    ("g++", "c++11", ".cc"),
    ("clang++", "c++17", ".cc"),
}

# Aggregates as TVM and our own C write them.
PROGRAM = """
#include <CL/cl_qcom_ml_ops.h>
#include <CL/cl_qcom_ml_ops.h>

cl_ml_tensor_desc_qcom tensor = {CL_FLOAT, CL_TENSOR_LAYOUT_NCHW_QCOM, 1, 2, 3, 4, 0,
                                 CL_TENSOR_DIMENSIONS_4D_QCOM, {0}};
cl_ml_op_convolution_desc_qcom convolution = {
    CL_CONVOLUTION_MODE_CONVOLUTION_QCOM, 1, 4, {1, 2}, {3, 4}, {1, 1}, {1, 1}, 0,
    CL_ARITHMETIC_MODE_FP32_QCOM};
cl_ml_op_pooling_desc_qcom pooling = {
    CL_POOLING_MODE_MAX_QCOM, 4, {1, 2}, {3, 4}, {1, 1}, {2, 2}, CL_PROPAGATE_NAN_QCOM,
    CL_ARITHMETIC_MODE_FP16_QCOM};
cl_ml_op_pad_desc_qcom pad = {CL_PAD_MODE_CONSTANT_QCOM, {0, 0}, {1, 1, 2, 2, 0, 0, 0, 0},
                              CL_ARITHMETIC_MODE_FP32_QCOM};
cl_ml_op_binary_desc_qcom binary = {CL_TENSOR_OP_ADD_QCOM, {{1.0f}, CL_FLOAT}, {{1.0f}, CL_FLOAT},
                                    {{0.0f}, CL_FLOAT}, CL_ARITHMETIC_MODE_FP32_QCOM};
cl_ml_op_gemm_desc_qcom gemm = {1, 2, 3, CL_GEMM_TRANSFORM_NONE_QCOM,
                                CL_GEMM_TRANSFORM_TRANSPOSE_QCOM, {{1.0f}, CL_FLOAT},
                                {{0.0f}, CL_FLOAT}, CL_ARITHMETIC_MODE_FP32_QCOM};
cl_ml_op_properties_qcom properties[] = {CL_ML_OP_PROPERTY_LIST_END_QCOM};

cl_int use(cl_ml_tensor_mem_desc_set_qcom *set) {
    return clGetMLInterfaceV1QCOM(0)->clCreateMLTensorMemoryDescriptorSetQCOM(set);
}
"""
SINCE = {
    "CL_CLIP_BY_VALUE_QCOM": 2,
    "clGetMLInterfaceV2QCOM": 2,
    "CL_ML_BATCH_NORM_OP_EPSILON_QCOM": 3,
    "clGetMLInterfaceV3QCOM": 3,
    "CL_TENSOR_USAGE_CNN_QCOM": 4,
    "clGetMLInterfaceV4QCOM": 4,
    "CL_ML_QUANTIZATION_DESC_QCOM": 5,
    "clGetMLInterfaceV5QCOM": 5,
}


@pytest.mark.parametrize(("compiler", "standard", "suffix"), sorted(COMPILERS))
def test_every_version_compiles(compiler: str, standard: str, suffix: str, tmp_path: Path) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"compiles by {compiler}: install it")
    source = tmp_path / f"program{suffix}"
    command = [compiler, f"-std={standard}", *WARNINGS, "-DCL_TARGET_OPENCL_VERSION=120", INCLUDE]
    for version in range(1, 6):
        there = [
            f"int use{i} = sizeof({name});"
            for i, (name, since) in enumerate(SINCE.items())
            if since <= version and not name.startswith("clGet")
        ]
        source.write_text(PROGRAM + "\n".join(there) + "\n")
        flag = f"-DCL_QCOM_ML_OPS_H_MAJOR_VERSION={version}"
        done = processes.run(
            [*command, flag, "-fsyntax-only", source], capture_output=True, text=True
        )
        assert (done.returncode, done.stderr) == (0, "")


def test_older_versions_lack_what_came_later(tmp_path: Path) -> None:
    compiler = shutil.which("gcc") or shutil.which("clang")
    if not compiler:
        pytest.skip("there is no C compiler: install gcc or clang")
    source = tmp_path / "program.c"
    for name, since in SINCE.items():
        source.write_text(f"#include <CL/cl_qcom_ml_ops.h>\nvoid *use = (void *){name};\n")
        for version in (since - 1, since):
            flags = ["-w", "-DCL_TARGET_OPENCL_VERSION=120", INCLUDE, "-fsyntax-only"]
            flags.append(f"-DCL_QCOM_ML_OPS_H_MAJOR_VERSION={version}")
            done = processes.run([compiler, *flags, source], capture_output=True, text=True)
            assert (name in done.stderr) == (version < since), done.stderr


def test_version_is_one_plain_number() -> None:
    """TVM's build looks for it by a regular expression."""
    text = (HEADERS / "cl_qcom_ml_ops.h").read_text()
    assert re.findall(r"define CL_QCOM_ML_OPS_H_MAJOR_VERSION\s+([0-9]+)", text) == ["5"]


def test_numbers_are_in_one_enumeration_only() -> None:
    """So the enumeration of a number is known, and a forgotten one is noticed."""
    text = (HEADERS / "cl_qcom_ml_ops.h").read_text()
    starts: list[int] = []
    for body in re.findall(r"enum \w*\s*\{([^}]*)\}", text):
        names = re.findall(r"\bCL_\w+", body)
        first = re.search(r"= (0x[0-9A-F]+)", body)
        if first is None:
            assert "USAGE" in body  # the one whose numbers are known
            continue
        starts.extend(range(int(first[1], 16), int(first[1], 16) + len(names)))
    assert len(starts) == len(set(starts)) > 30
    assert min(starts) > 8
