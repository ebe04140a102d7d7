"""Commands about turns, runs and questions; each authorises, commits, audits and dispatches."""
