"""The errors for models without a single program, from their arguments as JSON."""

from __future__ import annotations

from typing import Any

from .open_dimensions import OpenDimension, OpenDimensionsError, OpenModelError, OpenValuesError
from .open_sequences import OpenSequencesError


def open_model_error(arguments: dict[str, Any]) -> OpenModelError:
    """Return the error with these arguments."""
    if "sequences" in arguments:
        return OpenSequencesError(arguments["sequences"])
    if "sentence" in arguments:
        return OpenValuesError(**arguments)
    dimensions = [OpenDimension(*each) for each in arguments["dimensions"]]
    return OpenDimensionsError(arguments["inputs"], dimensions)
