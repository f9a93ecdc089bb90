"""Arrays in files of numpy."""

from __future__ import annotations

import lzma
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import CloptError

Array = np.ndarray[Any, np.dtype[Any]]


def read_arrays(file: Path) -> dict[str, Array]:
    """Return the arrays of an .npz file by name, or that of an .npy file under an empty name."""
    try:
        loaded = np.load(file, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {"": loaded}
        return dict(loaded.items())
    except OSError as error:
        raise CloptError(f"{file}: cannot read this file: {error.strerror or error}.") from error
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error, lzma.LZMAError) as error:
        raise CloptError(f"{file}: this is not a numpy file ({error}).") from error
    except RuntimeError as error:  # raised by zipfile: encrypted, or an unknown compression
        raise CloptError(f"{file}: cannot read this archive: {error}.") from error
    except MemoryError as error:
        raise CloptError(f"{file}: its arrays do not fit into memory.") from error
