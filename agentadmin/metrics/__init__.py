"""Metrics of all processes together, in Prometheus' text format at `/metrics`.

Workers have no address that Prometheus could ask, and there may be many web processes. So each
process counts in memory and adds what is new to one hash in Redis every few seconds; whichever
process is asked answers for all of them. Losing Redis loses counts and nothing else.
"""
