"""How many columns a text takes on a terminal."""

import unicodedata

from kai.text.graphemes import clusters

_EMOJI_STYLE = "\ufe0f"


def width(text: str) -> int:
    """Columns of one line. As terminals do it: emoji and East Asian wide signs take two, marks none."""
    return len(text) if text.isascii() else sum(_cluster_width(cluster) for cluster in clusters(text))


def pad(text: str, columns: int) -> str:
    """`text` with spaces behind it up to `columns`."""
    return text + " " * max(0, columns - width(text))


def _cluster_width(cluster: str) -> int:
    if unicodedata.category(cluster[0]) in {"Cc", "Mn", "Me", "Cf"}:
        return 0
    is_wide = unicodedata.east_asian_width(cluster[0]) in "WF" or _EMOJI_STYLE in cluster
    return 2 if is_wide or "\U0001f1e6" <= cluster[0] <= "\U0001f1ff" else 1
