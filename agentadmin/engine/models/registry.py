"""Models by name: `offline:demo`, and factories that are loaded by dotted path when first used.

A provider's SDK weighs tens of megabytes, so nobody pays for one that no agent asks for.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from agentadmin.engine.errors import InvalidInput
from agentadmin.engine.models.base import ChatModel
from agentadmin.engine.models.scripted import OfflineModel

type ModelFactory = Callable[[str], ChatModel]

_FACTORIES: dict[str, str | ModelFactory] = {}


def register(provider: str, factory: str | ModelFactory) -> None:
    """Name a provider: a factory, or the dotted path `package.module:function` of one."""
    _FACTORIES[provider] = factory


def load(path: str) -> object:
    """The object at `package.module:name`. Raises InvalidInput when there is none."""
    module_name, _, attribute = path.partition(":")
    if not attribute:
        module_name, _, attribute = path.rpartition(".")
    try:
        return getattr(import_module(module_name), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidInput(f"{path} cannot be loaded: {error}") from error


def create(name: str) -> ChatModel:
    """The model `provider:model`. Raises InvalidInput for an unknown provider."""
    provider, _, model = name.partition(":")
    if provider == "offline":
        if model != "demo":
            raise InvalidInput(f"the only offline model is offline:demo, not {name}", path="model")
        return OfflineModel()
    factory = _FACTORIES.get(provider)
    if factory is None:
        known = ", ".join(["offline", *sorted(_FACTORIES)])
        raise InvalidInput(f"unknown provider {provider!r}; known: {known}", path="model")
    made = load(factory) if isinstance(factory, str) else factory
    if not callable(made):
        raise InvalidInput(f"{factory} is no model factory", path="model")
    model_object: ChatModel = made(model)
    return model_object
