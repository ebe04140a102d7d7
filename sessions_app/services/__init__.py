"""Writes of sessions and states; each authorises, changes, audits and publishes in one place."""
