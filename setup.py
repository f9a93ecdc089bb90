"""The repository root is the package `clopt`: dialects/ is imported as clopt.dialects, and so on."""

from setuptools import find_packages, setup

ROOMS = ["dialects*", "passes*", "backends*", "frontends*", "tools*"]
DATA = ["**/*.toml", "**/*.cl", "**/*.h", "**/*.c"]

packages = [f"clopt.{name}" for name in find_packages(include=ROOMS)]
setup(
    package_dir={"clopt": "."},
    packages=["clopt", *packages],
    package_data={"clopt": ["py.typed"]} | {name: DATA for name in packages},
)
