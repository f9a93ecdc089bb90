"""The cache of compiled models, so that the second start of a model compiles nothing."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from .accelerators import accelerators
from .backends.model_cache.file_digests import Content, FileDigests, content_of_bytes
from .backends.model_cache.revision import is_revision_settled, revision
from .backends.model_cache.store import ModelStore
from .backends.pyopencl_runtime.cache import BinaryCache
from .backends.pyopencl_runtime.devices import Device
from .backends.pyopencl_runtime.identity import identity_of
from .compiled_model import CompiledModel
from .errors import CloptError
from .executables import replay_of
from .files.caches import user_cache
from .formats import format_of
from .model_contents import TextContents
from .options import CompileOptions, Place
from .tuning.places import CHOICE as TUNING
from .tuning.places import databases_for

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from .backends.stored_program import StoredProgram
    from .weights import Weights

_log = logging.getLogger(__name__)

CHOICE = "CLOPT_MODEL_CACHE"
"""The environment variable that controls the cache: auto or off."""

_CHOICES = ("auto", "off")
_ENVIRONMENT = (TUNING, "CLOPT_CALIBRATION")


@dataclass(frozen=True)
class Request:
    """A compilation whose result can be read from the cache or stored in it."""

    model: str | Path | bytes
    options: CompileOptions
    place: Place
    device: Device
    """The device of the place."""
    key: str
    """The options as JSON."""
    files: tuple[Path, ...]
    """The files that the compilation reads in addition to the model's, if they exist."""
    store: ModelStore
    digests: FileDigests
    read: list[list[str]] = field(default_factory=list[list[str]])
    """The digests of the files before the compilation."""

    @classmethod
    def of(cls, model: object, options: CompileOptions, place: Place) -> Request | None:
        """Return the request for a model and options; None if its result cannot be kept."""
        choice = os.environ.get(CHOICE) or _CHOICES[0]
        if choice not in _CHOICES:
            raise CloptError(f'{CHOICE} must be {" or ".join(_CHOICES)}, not "{choice}".')
        folder, key, device = user_cache("models"), options.key(), place.device
        if choice == "off" or folder is None or key is None or not isinstance(device, Device):
            return None
        is_model = isinstance(model, bytes) or (
            isinstance(model, str | Path) and format_of(model) == "onnx"
        )
        if not is_model or _asks_library(device):
            return None
        assert isinstance(model, str | Path | bytes)
        choices = options.choices
        with suppress(TypeError, ValueError, CloptError):
            files = [*databases_for(model, options.tuning), *([] if choices is None else [choices])]
            read, digests = tuple(map(Path, files)), FileDigests(BinaryCache(folder / "digests"))
            return cls(model, options, place, device, key, read, ModelStore(folder), digests)
        return None

    def find(self) -> CompiledModel | None:
        """Return the model if it is in the cache, ready to run."""
        files = self._files()
        if files is None:
            return None
        self.read.append(files)
        facts = self._facts(files)
        if (found := self.store.get(facts)) is None:
            _log.debug("the cache of models in %s does not contain this model", self.store.folder)
            return None
        _log.debug("the cache of models in %s contains this model", self.store.folder)

        compiled = self._stored_model(files, *found)
        compiled.prepare()
        return compiled

    def keep(self, compiled: CompiledModel) -> CompiledModel | None:
        """Store a model that was compiled for this request, and run it from the stored files.

        Return the stored model, which has no IR, or None if the cache does not take it.
        """
        files = self._files()
        is_unchanged = files is not None and files in self.read and is_revision_settled()
        if files is None or not is_unchanged or compiled.fallback is not None:
            return None
        kept = compiled.contents.stored
        if kept.launches is None:
            return None
        facts = self._facts(files)
        self.store.put(facts, kept, compiled.weights)
        if (found := self.store.get(facts)) is None:
            return None
        compiled.run_by(partial(replay_of, *found, compiled, self.place))
        return self._stored_model(files, *found)

    def _stored_model(
        self, files: list[str], stored: StoredProgram, weights: Weights
    ) -> CompiledModel:
        """Return a stored model, whose IR is compiled again if its files are still the same."""

        def compile_again() -> ModuleOp | None:
            from .compilation import compile_model

            if self._files() != files:
                return None
            return compile_model(self.model, self.options, self.place, use_cache=True).module

        contents = TextContents(stored, weights, compile_again)
        return CompiledModel(contents, partial(replay_of, stored, weights, contents, self.place))

    def find_note(self, kind: str) -> str | None:
        """Return a text about the model if it is in the cache."""
        files = self._files()
        if files is None:
            return None
        self.read.append(files)
        return self.store.get_text((kind, *self._facts(files)))

    def keep_note(self, kind: str, text: str) -> None:
        """Store a text about the model, unless its files have changed since `find_note`."""
        files = self._files()
        if files is not None and files in self.read and is_revision_settled():
            self.store.put_text((kind, *self._facts(files)), text)

    def _facts(self, files: list[str]) -> tuple[str, ...]:
        """Return everything that the result depends on."""
        environment = (f"{name}={os.environ.get(name)}" for name in _ENVIRONMENT)
        return (*revision(), self.key, *files, *environment, *identity_of(self.device))

    def contents(self) -> list[str] | None:
        """Return the digests of the model's files; None if one cannot be read."""
        try:
            return self._model_files()
        except (OSError, _UnreadableError):
            return None

    def _files(self) -> list[str] | None:
        """Return the digests of all files that are read; None if a file cannot be read."""
        try:
            return [*self._model_files(), *map(self._digest, self.files)]
        except (OSError, _UnreadableError):
            return None

    def _model_files(self) -> list[str]:
        """Return the digests of the model and of its external data files."""
        if isinstance(self.model, bytes):
            return [_known(content_of_bytes(self.model)).digest]
        path = Path(self.model)
        content = _known(self.digests.content_of(path))
        folder = path.parent
        data = (f"{name} {self._digest(folder / name)}" for name in content.locations)
        return [content.digest, *data]

    def _digest(self, path: Path) -> str:
        if not path.exists():
            return ""
        return _known(self.digests.content_of(path)).digest


def _asks_library(device: Device) -> bool:
    """Return whether the compiler queries a library of an accelerator on the device."""
    extensions = device.handle.extensions.split()
    return any(row.extension in extensions for row in accelerators().values())


class _UnreadableError(Exception):
    """A file is not regular, or refers to others in an unknown way."""


def _known(content: Content | None) -> Content:
    if content is None:
        raise _UnreadableError
    return content
