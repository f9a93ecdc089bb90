#!/bin/bash
# Installs everything the tests need (into .venv; as root also Debian's PoCL and Oclgrind) and runs
# them: ruff, pyright, some lit tests under the real lit, then pytest, which runs all of them in its
# own process, 17 times as fast, and whose summary comes last.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

declare -A debian=([/etc/OpenCL/vendors/pocl.icd]=pocl-opencl-icd [/usr/bin/oclgrind]=oclgrind
                   [/usr/bin/gcc]=gcc  # PoCL links each kernel against gcc's runtime library
                   # For what --emit=c writes:
                   [/usr/include/CL/cl.h]=opencl-c-headers
                   [/usr/lib/$(uname -m)-linux-gnu/libOpenCL.so]=ocl-icd-opencl-dev
                   [/usr/bin/g++]=g++ [/usr/bin/clang]=clang [/usr/bin/cmake]=cmake
                   [/usr/bin/make]=make [/usr/bin/valgrind]=valgrind
                   [/usr/bin/aarch64-linux-gnu-gcc]=gcc-aarch64-linux-gnu
                   [/usr/aarch64-linux-gnu/include/stdio.h]=libc6-dev-arm64-cross)
missing=()
for file in "${!debian[@]}"; do
    [ -e "$file" ] || missing+=("${debian[$file]}")
done
if [ ${#missing[@]} -gt 0 ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
        apt-get update -qq && apt-get install -qq -y "${missing[@]}" > /dev/null || exit 1
    else
        echo "Some tests need: ${missing[*]}" >&2
    fi
fi

[ -x .venv/bin/python ] || python3 -m venv .venv || exit 1
. .venv/bin/activate
rm -rf build  # or modules that are gone would be installed again
pip install --quiet --disable-pip-version-check '.[cpu,dev]' || exit 1

failed=()
step() {
    echo "== $*"
    "$@" || failed+=("$1")
}
step ruff check .
step ruff format --check .
step pyright
step lit --quiet lit_tests/dialects lit_tests/tools

# Where this script could install both runtimes, the tests must have found both.
if [ "$(id -u)" = 0 ] && [ "$(uname -sm)" = "Linux x86_64" ]; then
    export CLOPT_TEST_RUNTIMES="Portable Computing Language,Intel(R) OpenCL"
fi
echo "== pytest"
log=$(mktemp)
pytest -q -n auto --maxprocesses 8 --dist loadfile 2>&1 | tee "$log"
[ "${PIPESTATUS[0]}" = 0 ] || failed+=(pytest)

[ ${#failed[@]} = 0 ] && exit 0
passed=$(grep -oE '[0-9]+ passed' "$log" | tail -1)
echo "${passed:-0 passed}, ${#failed[@]} failed (${failed[*]})"
exit 1
