"""The real parts that the tests run against, found on this machine or refused in one sentence."""
