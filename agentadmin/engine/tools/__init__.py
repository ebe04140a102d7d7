"""Tools: declaring, describing, checking and executing them."""
