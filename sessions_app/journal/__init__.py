"""The relational thread journal: the only writer of facts and snapshots."""

from sessions_app.journal.cache import ProjectionCache
from sessions_app.journal.store import DjangoThreadJournal, Projector

__all__ = ["DjangoThreadJournal", "ProjectionCache", "Projector"]
