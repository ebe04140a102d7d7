"""The data folder: created private, locked by one `up` at a time, with its secret key."""

import fcntl
import os
import secrets
import shutil
import stat
import time
from pathlib import Path

# A killed `up` leaves its guardian two seconds to end the children.
PATIENCE = 6.0
SOCKET_PATH_LIMIT = 107


class CannotStartError(Exception):
    """`up` cannot start; the message is one plain sentence."""


def prepare(data: Path) -> None:
    """Create the folder and its parts, readable by nobody else."""
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        for part in ("valkey", "logs", "workspaces", "reports"):
            (data / part).mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise CannotStartError(
            f"The data folder {data} cannot be created: {error.strerror}."
        ) from None


def lock(data: Path) -> int:
    """Take the folder for this process; the lock goes when the last holder of it is gone."""
    path = data / "up.lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    deadline = time.monotonic() + PATIENCE
    while not _take(descriptor):
        owner = path.read_text().strip()
        if _alive(owner) or time.monotonic() > deadline:
            os.close(descriptor)
            raise CannotStartError(
                f"AgentAdmin is already running on the data folder {data} (process {owner})."
            )
        time.sleep(0.1)
    os.truncate(descriptor, 0)
    os.pwrite(descriptor, str(os.getpid()).encode(), 0)
    return descriptor


def _take(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _alive(pid: str) -> bool:
    if not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def ensure_secret_key(data: Path) -> None:
    """Write a key once, so that sessions outlive a restart."""
    path = data / "secret_key"
    if path.is_file():
        return
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(descriptor, secrets.token_urlsafe(50).encode())
    os.close(descriptor)


def ensure_socket_folder(folder: Path) -> None:
    """Create the folder of the embedded server's socket, or refuse one that is not ours alone."""
    if len(os.fsencode(folder / "valkey.sock")) > SOCKET_PATH_LIMIT:
        raise CannotStartError(f"The folder for temporary files makes too long a path: {folder}.")
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    private = stat.S_ISDIR(status.st_mode) and stat.S_IMODE(status.st_mode) == 0o700
    if not private or status.st_uid != os.geteuid():
        raise CannotStartError(f"{folder} exists and is not private to this user; remove it.")


def remove_socket_folder(socket: Path | None) -> None:
    """Nothing of ours stays outside of the data folder."""
    if socket is not None:
        shutil.rmtree(socket.parent, ignore_errors=True)
