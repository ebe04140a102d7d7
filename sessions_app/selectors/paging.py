"""Limits, cursors and ids of lists: `agentadmin.paging` by the name that this app knows it by."""

from agentadmin.paging import (
    DEFAULT_LIMIT,
    MAX_LIMIT,
    Page,
    checked_limit,
    parse_time_cursor,
    row_id,
    searchable,
    time_cursor,
)

__all__ = [
    "DEFAULT_LIMIT",
    "MAX_LIMIT",
    "Page",
    "checked_limit",
    "parse_time_cursor",
    "row_id",
    "searchable",
    "time_cursor",
]
