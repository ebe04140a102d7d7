"""The benchmarks of `make bench`: what the targets ask for, beside the floor of the same run."""
