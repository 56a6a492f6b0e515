"""One estimate of tokens for every backend, so that a block does not depend on who reads it."""

import string

# Hundredths of a token for each byte of a class. Fitted on the tokenizers of Claude and of two GPT generations.
_WEIGHTS = (
    (bytes(range(128, 256)), 45),  # UTF-8 beyond ASCII
    (string.ascii_lowercase.encode(), 26),
    (string.ascii_uppercase.encode(), 60),
    (string.digits.encode(), 80),
    (string.whitespace.encode(), 10),
)
_OTHER = 55


def estimate(text: str) -> int:
    """About how many tokens `text` is. Of two texts joined it is never more than of the two apart.

    Measured against three real tokenizers on prose, code, JSON, logs and eight languages: 0.8 to 1.6 times the true
    number; emoji and random base64 come out at 0.7, and scripts that the newest tokenizers know well at up to 3.
    Admission multiplies by 1.2 on top, so that the error is nearly always on the safe side.
    """
    rest = text.encode(errors="replace")
    hundredths = 0
    for signs, weight in _WEIGHTS:
        left = rest.translate(None, signs)
        hundredths += (len(rest) - len(left)) * weight
        rest = left
    return -(-(hundredths + len(rest) * _OTHER) // 100)
