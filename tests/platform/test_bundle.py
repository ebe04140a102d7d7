"""Bundled files have hashed names; the manifest of the build knows them."""

import json
import os
from pathlib import Path

import pytest
from django.conf import settings
from django.templatetags.static import static


@pytest.fixture
def dist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(settings, "BASE_DIR", tmp_path)
    folder = tmp_path / "static" / "dist"
    folder.mkdir(parents=True)
    return folder


def test_a_bundled_file_has_its_hashed_name(dist: Path) -> None:
    (dist / "manifest.json").write_text(json.dumps({"app.js": "app-AAAA.js"}))
    assert static("app.js") == "/static/dist/app-AAAA.js"


def test_a_new_build_is_seen_without_a_restart(dist: Path) -> None:
    manifest = dist / "manifest.json"
    manifest.write_text(json.dumps({"app.js": "app-AAAA.js"}))
    assert static("app.js") == "/static/dist/app-AAAA.js"
    manifest.write_text(json.dumps({"app.js": "app-BBBB.js"}))
    os.utime(manifest, ns=(1, 1))
    assert static("app.js") == "/static/dist/app-BBBB.js"


def test_a_file_of_a_package_keeps_its_name(dist: Path) -> None:
    (dist / "manifest.json").write_text("{}")
    assert static("ninja/favicon.png") == "/static/ninja/favicon.png"


def test_nothing_breaks_before_the_first_build(dist: Path) -> None:
    assert static("app.js") == "/static/app.js"
