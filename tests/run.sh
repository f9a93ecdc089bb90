#!/bin/bash
# Installs what the tests need (into .venv; as root also Debian's PoCL and Oclgrind) and runs them.
# The summary of pytest comes last.
#
#   ./tests/run.sh                      every feature once, and ruff: 5 minutes on 2 cores
#   ./tests/run.sh --thorough           more cases of each test; pyright, lit tests by the real lit
#   ./tests/run.sh --long [--seed N]    all, with many random examples from a seed that it prints;
#                                       the tests marked `long`; all lit tests by the real lit
#
# docs/testing.md says more.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
unset PYTHONPATH  # the installed package is tested, no other one
unset PYTHONDONTWRITEBYTECODE  # each of many processes would compile all modules again

usage() {
    echo "usage: $0 [--thorough | --long] [--seed N]"
    exit "$1"
}
arguments=("$@") effort=() lit_tests=() packages=cpu,test limit=30m
while [ $# -gt 0 ]; do
    case "$1" in
        --thorough) effort+=(--thorough)
                lit_tests=(lit_tests/tools) packages=cpu,dev,torch limit=60m ;;
        --long) effort+=(--long -o faulthandler_timeout=3600)
                lit_tests=(lit_tests) packages=cpu,dev,torch limit=12h ;;
        --seed) [[ "${2-}" =~ ^[0-9]+$ ]] || usage 2 >&2
                effort+=(--seed "$2"); shift ;;
        --help) usage 0 ;;
        *) usage 2 >&2 ;;
    esac
    shift
done

# Runs this script within the limit. In a group of processes of its own, all of them end with it;
# Ctrl-C reaches them through us.
run_within_limit() {
    set -m
    CLOPT_TESTS_LIMIT=$limit timeout -k 30 "$limit" tests/run.sh "${arguments[@]}" &
    local group=$! code
    trap 'kill -INT -- -$group' INT
    trap 'kill -TERM -- -$group' TERM HUP
    while wait "$group"; code=$?; kill -0 "$group" 2> /dev/null; do :; done
    case $code in 124 | 137)
        echo "$0: ended after $limit. The lines above tell what ran; it hangs." >&2 ;;
    esac
    exit "$code"
}
[ -n "${CLOPT_TESTS_LIMIT-}" ] || run_within_limit

logs=$(mktemp -d) || exit 1
trap 'kill $(jobs -p) 2> /dev/null; rm -rf "$logs"' EXIT

# A line about the next step, with the minutes and seconds since the start.
say() { printf '== %d:%02d %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$*"; }

missing_debian_packages() {
    local -A packages=(
        [/etc/OpenCL/vendors/pocl.icd]=pocl-opencl-icd [/usr/bin/oclgrind]=oclgrind
        [/usr/bin/gcc]=gcc  # PoCL links each kernel against gcc's runtime library
        # For what --emit=c writes:
        [/usr/include/stdio.h]=libc6-dev [/usr/include/CL/cl.h]=opencl-c-headers
        [/usr/lib/$(uname -m)-linux-gnu/libOpenCL.so]=ocl-icd-opencl-dev
        [/usr/bin/g++]=g++ [/usr/bin/clang]=clang [/usr/bin/cmake]=cmake
        [/usr/bin/make]=make [/usr/bin/valgrind]=valgrind
        [/usr/bin/aarch64-linux-gnu-gcc]=gcc-aarch64-linux-gnu
        [/usr/aarch64-linux-gnu/include/stdio.h]=libc6-dev-arm64-cross)
    # Opens the pages that clopt writes; 100 MB that the default form does without.
    [ ${#lit_tests[@]} = 0 ] || packages[/usr/bin/chromium]=chromium
    local file
    for file in "${!packages[@]}"; do
        [ -e "$file" ] || echo "${packages[$file]}"
    done
    python3 -c 'import ensurepip, venv' 2> /dev/null || echo python3-venv
}

# Waits for whoever else installs something, and tries a download that breaks off again.
apt() {
    DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"
}

install_debian() {
    apt update  # where it fails for one of several sources, the others may do
    apt install -y --no-install-recommends "$@"
}

install_python() {
    .venv/bin/python -m pip --version > /dev/null 2>&1 || python3 -m venv --clear .venv || return 1
    rm -rf build  # or modules that are gone would be installed again
    # PyPI's torch brings CUDA, gigabytes that nothing here uses.
    [[ $packages != *torch* ]] || .venv/bin/python -m pip install --quiet --no-deps --no-compile \
        --disable-pip-version-check --extra-index-url https://download.pytorch.org/whl/cpu \
        torch==2.13.0 torchvision==0.28.0 || return 1
    # Python compiles the modules that the tests import, a small part of all.
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile ".[$packages]"
}

# Runs a command in the background: `start NAME COMMAND...`, then `finish NAME`, which prints what
# the command had to say if it failed.
declare -A running=()
start() {
    local name=$1
    shift
    "$@" > "$logs/$name" 2>&1 &
    running[$name]=$!
}
finish() {
    wait "${running[$1]}" && return
    cat "$logs/$1" >&2
    return 1
}

mapfile -t missing < <(missing_debian_packages)
debian=false
if [ ${#missing[@]} -gt 0 ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
        debian=true
    else
        echo "Some tests need: ${missing[*]}" >&2
    fi
fi
if $debian; then
    say "Debian packages: ${missing[*]}"
    start debian install_debian "${missing[@]}"
    if [[ " ${missing[*]} " == *" python3-venv "* ]]; then  # which the next step needs
        finish debian || exit 1
        debian=false
    fi
fi
say "Python packages, into .venv"
start python install_python
finish python || exit 1
if $debian; then
    finish debian || exit 1
fi
. .venv/bin/activate

failed=()
step() {
    say "$*"
    "$@" || failed+=("$1")
}
if [ ${#lit_tests[@]} -gt 0 ]; then
    start pyright pyright
    step lit --quiet "${lit_tests[@]}"
    say pyright
    finish pyright || failed+=(pyright)
fi
step ruff check .
step ruff format --check .

# Where this script could install both runtimes, the tests must have found both.
if [ "$(id -u)" = 0 ] && [ "$(uname -sm)" = "Linux x86_64" ]; then
    export CLOPT_TEST_RUNTIMES="Portable Computing Language,Intel(R) OpenCL"
fi
say pytest
pytest -q -n auto --maxprocesses 8 --dist worksteal "${effort[@]}" 2>&1 | tee "$logs/pytest"
tests=${PIPESTATUS[0]}

[ ${#failed[@]} = 0 ] && exit "$tests"
[ "$tests" = 0 ] || failed+=(pytest)
passed=$(grep -oE '[0-9]+ passed' "$logs/pytest" | tail -1)
echo "${passed:-0 passed}, ${#failed[@]} failed (${failed[*]})"
exit 1
