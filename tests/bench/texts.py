"""Messages of 300 characters of random words: repeated text would flatter every compression."""

import random

LENGTH = 300
_random = random.Random(7)
_letters = "etaoinshrdlucmfwypvbgk"
_words = ["".join(_random.choices(_letters, k=_random.randint(2, 10))) for _ in range(4000)]
_texts = [" ".join(_random.choices(_words, k=70)) for _ in range(3000)]


def text(number: int) -> str:
    """The text of the n-th message; no two of a benchmark's are alike."""
    return f"[{number:06d}] {_texts[number * 7919 % len(_texts)]}"[:LENGTH]
