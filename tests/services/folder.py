"""A short temporary folder of this test process: unix socket paths hold 107 bytes."""

import atexit
import shutil
import tempfile
from pathlib import Path

FOLDER = Path(tempfile.mkdtemp(prefix="aat-", dir="/tmp"))


def remove() -> None:
    """Called once, when the process has run its tests."""
    shutil.rmtree(FOLDER, ignore_errors=True)


# Also where the run ends before it has begun.
atexit.register(remove)
