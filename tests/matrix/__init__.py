"""Every route of the product as every kind of caller: the answers equal the permission table."""
