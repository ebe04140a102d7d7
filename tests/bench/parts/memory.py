"""T27: what web server and worker hold in memory when nothing goes on."""

import time

from tests.bench.parts.live import PASSWORD, Person
from tests.bench.rows import Row
from tests.services.folder import FOLDER
from tests.services.upping import Up

TARGET = 150
REST = 5.0


async def measure() -> list[Row]:
    """After a turn and a page, so that everything lazy is loaded; then a rest."""
    data = FOLDER / "memory"
    data.mkdir(mode=0o700)
    (data / "demo-seeded").touch()
    up = Up(data, AGENTADMIN_ADMIN_PASSWORD=PASSWORD)
    try:
        up.ready()
        person = Person(up.port)
        person.submit(person.thread(), "/echo hello")
        assert person.http.get("/").status_code == 200
        time.sleep(REST)
        return [_row(up, "web", "granian"), _row(up, "worker", "celery", "worker")]
    finally:
        up.close()


def _row(up: Up, name: str, *words: str) -> Row:
    """The process that serves; what a program's own supervisor shares with it counts once."""
    found = [each for each in up.children() if all(word in each.cmdline() for word in words)]
    found += [child for each in found for child in each.children() if child not in found]
    sizes = {each.pid: each.memory_full_info() for each in found}
    largest = max(size.rss for size in sizes.values()) / 2**20
    together = sum(size.pss for size in sizes.values()) / 2**20
    figure = f"{largest:.0f} MB resident ({len(sizes)} processes, {together:.0f} MB together)"
    return Row("T27", f"{name} at rest", figure, largest, TARGET, "MB")
