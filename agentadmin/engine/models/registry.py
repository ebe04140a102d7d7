"""Models by name: `offline:demo`, and factories that are loaded by dotted path when first used.

A provider's SDK weighs tens of megabytes, so nobody pays for one that no agent asks for.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from agentadmin.engine.errors import InvalidInput
from agentadmin.engine.models.base import ChatModel
from agentadmin.engine.models.options import ModelOptions
from agentadmin.engine.models.providers import PROVIDERS, LazyModel
from agentadmin.engine.models.scripted import OfflineModel

type ModelFactory = Callable[..., ChatModel]
"""Called with the model's name, and with its `ModelOptions` where there are any."""

_FACTORIES: dict[str, str | ModelFactory] = {
    name: provider.factory for name, provider in PROVIDERS.items()
}


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


def providers() -> list[str]:
    """The providers that a model's name may begin with."""
    return ["offline", *sorted(_FACTORIES)]


def check_name(name: str) -> tuple[str, str]:
    """Provider and model of a name. Raises InvalidInput; loads nothing."""
    provider, _, model = name.partition(":")
    if provider == "offline":
        if model != "demo":
            raise InvalidInput(f"the only offline model is offline:demo, not {name}", path="model")
    elif provider not in _FACTORIES:
        known = ", ".join(providers())
        raise InvalidInput(f"unknown provider {provider!r}; known: {known}", path="model")
    elif not model.strip():
        raise InvalidInput(f"say which model, as in {provider}:NAME", path="model")
    return provider, model


def create(name: str, options: ModelOptions | None = None) -> ChatModel:
    """The model `provider:model`. Raises InvalidInput for an unknown provider."""
    provider, model = check_name(name)
    if provider == "offline":
        return OfflineModel()
    known = PROVIDERS.get(provider)
    if known is None or _FACTORIES[provider] != known.factory:
        return _made(provider, model, options)
    given = options or ModelOptions()
    return LazyModel(known, model, given, lambda: _made(provider, model, given))


def _made(provider: str, model: str, options: ModelOptions | None) -> ChatModel:
    factory = _FACTORIES[provider]
    make = load(factory) if isinstance(factory, str) else factory
    if not callable(make):
        raise InvalidInput(f"{factory} is no model factory", path="model")
    made: ChatModel = make(model) if options is None else make(model, options)
    return made
