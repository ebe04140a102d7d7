"""Starts the product's processes, keeps them running, and takes them down together."""
