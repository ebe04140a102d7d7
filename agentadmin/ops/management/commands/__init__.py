"""`manage.py` commands, one module each."""
