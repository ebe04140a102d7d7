"""The running product's health, seen from outside, and what the live tests rely on."""

import httpx

from tests.services.product import Product, until


def readiness(product: Product) -> httpx.Response:
    return httpx.get(f"{product.url}/readyz", timeout=10)


def test_it_is_ready_and_takes_the_administrators_token(product: Product) -> None:
    assert readiness(product).json() == {
        "status": "ok",
        "checks": {"database": "ok", "redis": "ok", "worker": "ok"},
    }
    with product.client() as client:
        assert client.get("/sessions").status_code == 200


def test_readiness_misses_a_frozen_worker(product: Product) -> None:
    product.workers["worker"].freeze()
    fault = until(lambda: readiness(product).status_code == 503 and readiness(product), "noticed")
    assert fault.json()["checks"]["worker"] == "No worker is running."
    assert httpx.get(f"{product.url}/healthz", timeout=10).status_code == 200
    product.workers["worker"].thaw()
    product.wait_until_ready()


def test_readiness_names_a_lost_store(product: Product) -> None:
    assert product.valkey is not None
    product.valkey.kill()
    answer = readiness(product)
    assert answer.status_code == 503
    assert answer.json()["checks"]["redis"] == "Redis does not answer."


def test_what_a_test_killed_is_mended_for_the_next(product: Product) -> None:
    assert readiness(product).status_code == 200


def test_metrics_are_in_prometheus_format(product: Product) -> None:
    answer = httpx.get(f"{product.url}/metrics", timeout=10)
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert "# HELP" in answer.text
