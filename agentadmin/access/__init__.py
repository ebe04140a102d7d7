"""Roles, object scopes, API tokens and login."""
