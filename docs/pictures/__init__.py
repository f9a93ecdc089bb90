"""The pictures of README.md and of the pages: `python -m pictures`, from the folder `docs`."""
