"""Work that takes a worker a while: claimed by one, begun again by another when that one dies."""
