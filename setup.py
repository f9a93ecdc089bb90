"""The repository root is the package `clopt`: dialects/ is imported as clopt.dialects."""

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

ROOMS = [
    "machine*",
    "decisions*",
    "dialects*",
    "passes*",
    "backends*",
    "frontends*",
    "reports*",
    "tuning*",
    "tools*",
    "files*",
    "messages*",
]
DATA = [
    *("**/*.toml", "**/*.cl", "**/*.h", "**/*.c", "**/*.in", "**/*.html", "**/*.txt"),
    *("**/*.css", "**/*.js", "**/*.jsonl"),
]


class BuildPackage(build_py):
    """Excludes this file from the package in whose folder it is."""

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        found = super().find_package_modules(package, package_dir)
        return [module for module in found if module[1] != "setup"]


packages = [f"clopt.{name}" for name in find_packages(include=ROOMS)]
setup(
    cmdclass={"build_py": BuildPackage},
    package_dir={"clopt": "."},
    packages=["clopt", *packages],
    package_data={"clopt": ["py.typed"]} | {name: DATA for name in packages},
)
