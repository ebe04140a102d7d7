"""`manage.py up`: from an empty folder to a running product, in steps that each can refuse."""

import os
import re
import secrets
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from agentadmin.supervisor import data, probe, programs
from agentadmin.supervisor.child import Spec
from agentadmin.supervisor.data import CannotStartError
from agentadmin.supervisor.lifeline import Lifeline
from agentadmin.supervisor.watch import Crew, Say

READY_SECONDS = 60.0
STORE_SECONDS = 30.0
NEVER = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Plan:
    """What the settings say about this start."""

    base: Path
    data: Path
    host: str
    port: int
    redis_url: str
    socket: Path | None  # of the embedded Valkey; none where REDIS_URL names another server
    static: Path

    @property
    def environment(self) -> dict[str, str]:
        """What every child gets on top of our own environment."""
        path = (str(self.base), str(Path.cwd()), os.environ.get("PYTHONPATH", ""))
        return {
            "AGENTADMIN_DATA": str(self.data),
            "DJANGO_SETTINGS_MODULE": "agentadmin.settings",
            "REDIS_URL": self.redis_url,
            "HOST": self.host,
            "PORT": str(self.port),
            "PYTHONPATH": os.pathsep.join(filter(None, path)),
            "PYTHONUNBUFFERED": "1",
        }

    def spec(self, name: str, command: tuple[str, ...]) -> Spec:
        """A child of this start."""
        return Spec(name, command, self.data / "logs" / f"{name}.log", self.environment)


def run(
    plan: Plan, *, migrate: Callable[[], None], first_user: Callable[[], bool], say: Say
) -> None:
    """Start everything, watch it until told to stop, take it down.

    1. Take the data folder and look at the port: the two plain refusals, before any change.
    2. Start the store; migrate; first user and demo, each once.
    3. Start worker and web; tell when they are ready; start beat.
    """
    # Also for the children: a folder that was there before may be open to others.
    os.umask(0o077)
    data.prepare(plan.data)
    lock = data.lock(plan.data)
    probe.refuse_busy_port(plan.host, plan.port)
    data.ensure_secret_key(plan.data)
    crew = Crew(Lifeline(lock), say)
    try:
        start_store(plan, crew)
        migrate()
        login = prepare_once(plan, missing=not first_user(), say=say)
        start_programs(plan, crew)
        if wait_until_ready(plan, crew):
            say(f"AgentAdmin is ready at http://{plan.host}:{plan.port}")
            say(login)
            # Nobody waits for the scheduler, so it does not make anybody wait.
            crew.start(plan.spec("scheduler", programs.beat(plan.data)))
        crew.run()
    finally:
        crew.stop()
        data.remove_socket_folder(plan.socket)


def start_store(plan: Plan, crew: Crew) -> None:
    """Start the embedded Valkey, unless the settings name another server."""
    if plan.socket is None:
        return
    data.ensure_socket_folder(plan.socket.parent)
    spec = plan.spec("valkey", programs.valkey(plan.data / "valkey", plan.socket))
    # Its warnings are about the tuning of large servers; if it fails, it ends and that is told.
    server = crew.start_store(replace(spec, trouble=NEVER))
    deadline = time.monotonic() + STORE_SECONDS
    while not probe.answers(plan.socket):
        if server is None or server.ended() is not None or time.monotonic() > deadline:
            log = plan.data / "logs" / "valkey.log"
            raise CannotStartError(f"The embedded Valkey server did not start; see {log}.")
        time.sleep(0.02)


def prepare_once(plan: Plan, *, missing: bool, say: Say) -> str:
    """Create the first user and the demo where they are missing; how to sign in."""
    login = create_first_user(plan) if missing else "Sign in as admin with your password."
    marker = plan.data / "demo-seeded"
    if not marker.exists():
        say("Seeding the demo sessions, once.")
        try:
            manage(plan, "seed_demo")
            marker.touch()
        except CannotStartError as error:
            # The product is whole without its demo; the next start tries again.
            say(str(error))
    return login


def create_first_user(plan: Plan) -> str:
    """The user `admin`; the password is shown now or never."""
    chosen = os.environ.get("AGENTADMIN_ADMIN_PASSWORD", "")
    password = chosen or secrets.token_urlsafe(12)
    command = ("create_operator", "admin", "--role", "admin", "--password-stdin")
    manage(plan, *command, given=password)
    if chosen:
        return "Sign in as admin with the password of AGENTADMIN_ADMIN_PASSWORD."
    return f"Sign in as admin with the password {password} (it is not shown again)."


def manage(plan: Plan, *arguments: str, given: str = "") -> None:
    """Run one of our own commands to its end, with a line on its standard input."""
    done = subprocess.run(
        [sys.executable, str(plan.base / "manage.py"), *arguments],
        env={**os.environ, **plan.environment},
        input=f"{given}\n",
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise CannotStartError(f"{arguments[0]} failed: {said[-1] if said else 'no message'}")


def start_programs(plan: Plan, crew: Crew) -> None:
    """What a turn needs."""
    crew.start(plan.spec("worker", programs.worker()))
    crew.start(plan.spec("web", programs.web(plan.host, plan.port, plan.static)))


def wait_until_ready(plan: Plan, crew: Crew) -> bool:
    """Watch the programs until all parts answer; false if told to stop before."""
    deadline = time.monotonic() + READY_SECONDS
    checks: dict[str, str] | None = None
    while not crew.stopping:
        crew.look()
        checks = probe.readiness(plan.host, plan.port)
        if checks and set(checks.values()) == {"ok"}:
            return True
        if time.monotonic() > deadline:
            faults = " ".join(said for said in (checks or {}).values() if said != "ok")
            what = faults or "The web server does not answer."
            raise CannotStartError(f"Not ready after {READY_SECONDS:g} s. {what}")
    return False
