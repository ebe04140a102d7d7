"""The product as a person uses it: a real Chromium on the running product."""
