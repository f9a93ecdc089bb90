"""Compiled models in pickles: their state, and how another process restores the model."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any

from .backends.pyopencl_runtime import Runnable
from .backends.pyopencl_runtime.devices import DeviceName
from .backends.stored_program import StoredProgram
from .compiled_model import CompiledModel
from .errors import CloptError
from .executables import executable_of, replay_of
from .model_contents import TextContents
from .options import Origin, Place
from .version import VERSION
from .weights import Weights


def state_of(model: CompiledModel) -> tuple[str, dict[str, Any]]:
    """Return the arguments of `restore` for a model: plain values and arrays.

    So every version of clopt can read them, to report a mismatch. Raises CloptError for a model
    with objects of the caller's process.
    """
    origin = model.origin
    if origin is None:
        raise CloptError(
            "This model is a part of another one, or was not made by clopt.compile or clopt.load, "
            "so it cannot be pickled or copied; write it by model.save(folder)."
        )
    if origin.caller_owns is not None:
        raise CloptError(
            f"A model on your own {origin.caller_owns} cannot be pickled or copied, since objects "
            "of OpenCL stay in their process; compile it for a device by its name, or write it by "
            "model.save(folder)."
        )
    stored = [each.contents.stored for each in (model, model.fallback) if each]
    weights, device = model.weights, origin.device
    return VERSION, {
        "programs": [each.as_json() for each in stored],
        "weights": {key: (weights.get(key), weights.hint(key)) for key in weights.keys()},
        "device": asdict(device) if isinstance(device, DeviceName) else device,
        "accelerators": dict(origin.accelerators),
        "use_cache": origin.use_cache,
        "quantization": model.quantization,
        "values": dict(model.values),
    }


def restore(version: str, state: dict[str, Any]) -> CompiledModel:
    """Return the model of a state; its first use finds the device and builds the kernels."""
    if version != VERSION:
        raise CloptError(
            f"The model was pickled by clopt {version}, and this is clopt {VERSION}; pickle it "
            "again, or keep models for later versions by model.save(folder)."
        )
    for array, _ in state["weights"].values():
        array.flags.writeable = False
    weights, device = Weights.of(state["weights"]), state["device"]
    choice = DeviceName(**device) if device and not isinstance(device, str) else device
    origin = Origin(choice, None, state["accelerators"], state["use_cache"])
    made: CompiledModel | None = None
    for table in reversed(state["programs"]):
        contents = TextContents(StoredProgram.from_json(table), weights)
        made = CompiledModel(contents, partial(_run, contents, origin), made)
    assert made, "a model has a program"
    made.origin = origin
    made.quantization = state["quantization"]
    made.values = state["values"]
    return made


def _run(contents: TextContents, origin: Origin) -> Runnable:
    choice, stored, weights = origin.device, contents.stored, contents.weights
    place = Place(choice.find() if isinstance(choice, DeviceName) else choice)
    if stored.launches is not None:
        return replay_of(stored, weights, contents, place, origin.use_cache)
    from .backends.saved_model import SavedPlan

    plan = SavedPlan(contents.declared, stored.source)
    return executable_of(plan, weights, origin.accelerators, place, origin.use_cache)
