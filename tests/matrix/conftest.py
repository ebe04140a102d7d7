"""The pages' worker in this process makes the samples."""

from tests.pages.conftest import talk

__all__ = ["talk"]
