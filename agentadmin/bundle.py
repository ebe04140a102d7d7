"""Finds the hashed file of a bundled asset: `{% static "app.js" %}` gives `app-<hash>.js`."""

import json
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.storage import StaticFilesStorage


@lru_cache(maxsize=4)
def _names(manifest: Path, _changed_ns: int) -> dict[str, str]:
    names: dict[str, str] = json.loads(manifest.read_text())
    return names


class BundleStorage(StaticFilesStorage):
    """Reads the manifest that the front end's build writes; other files keep their plain names."""

    def url(self, name: str | None) -> str:
        """The address of a file, hashed if it was bundled."""
        manifest = settings.BASE_DIR / "static" / "dist" / "manifest.json"
        if not manifest.is_file():
            return super().url(name)
        names = _names(manifest, manifest.stat().st_mtime_ns)
        return super().url(f"dist/{names[name]}" if name in names else name)
