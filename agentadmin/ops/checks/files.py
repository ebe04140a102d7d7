"""The data folder: private, with a key that lasts and room to write; and the built front end."""

from __future__ import annotations

import os
import shutil
import stat
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from agentadmin import env
from agentadmin.ops.doctor import Fault, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

SHORTEST_KEY = 32
ROOM = 500 * 1024 * 1024
# A folder with more files than this is looked at in part.
LOOKED_AT = 50_000
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def secret_key() -> str:
    """Without a key that lasts, every restart signs everybody out."""
    key = env.secret_key(settings.DATA)
    if not key:
        raise Fault(
            "There is no lasting secret key: set SECRET_KEY, or let `manage.py up` make one in "
            f"{settings.DATA}."
        )
    if len(key) < SHORTEST_KEY:
        raise Fault(f"The secret key is too short: use at least {SHORTEST_KEY} characters.")
    return "from SECRET_KEY" if env.text("SECRET_KEY") else "in the data folder"


def private() -> str:
    """What lies in the data folder is for its owner alone."""
    looked_at = 0
    for path, status in islice(_inside(settings.DATA), LOOKED_AT):
        looked_at += 1
        if status.st_uid != os.geteuid():
            raise Fault(f"{path} belongs to another user than the one who runs this command.")
        if status.st_mode & _OTHERS:
            raise Fault(
                f"{path} can be read by other users: run `chmod -R go-rwx {settings.DATA}`."
            )
    return f"{looked_at} files and folders, for their owner alone"


def _inside(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    if not folder.is_dir():
        raise Skipped(f"There is no data folder {folder} yet.")
    yield folder, folder.lstat()
    for root, folders, files in os.walk(folder):
        listed = (*folders, *files)
        if Path(root) == folder:
            # What a tool writes there has modes of its own; the folder around it is closed.
            folders[:] = [name for name in folders if name != "workspaces"]
        for name in listed:
            path = Path(root) / name
            try:
                status = path.lstat()
            except FileNotFoundError:  # gone meanwhile: a log that was rotated, a socket
                continue
            if not stat.S_ISLNK(status.st_mode):
                yield path, status


def space() -> str:
    """A full disk stops every write."""
    folder = settings.DATA if settings.DATA.is_dir() else settings.DATA.parent
    if not folder.is_dir():
        raise Skipped(f"There is no data folder {settings.DATA} yet.")
    free = shutil.disk_usage(folder).free
    if free < ROOM:
        raise Fault(f"Only {free // 2**20} MB are left on the disk of {folder}.")
    return f"{free / 2**30:.1f} GB free"


def bundle() -> str:
    """Pages need the scripts and styles that `make setup` builds."""
    manifest = settings.BASE_DIR / "static" / "dist" / "manifest.json"
    if not manifest.is_file():
        raise Fault("The front end is not built: run `make setup`.")
    return "built"
