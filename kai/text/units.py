"""The units in which chat apps count a text. Each takes a text and gives its size."""


def code_points(text: str) -> int:
    return len(text)


def utf16_units(text: str) -> int:
    """What Telegram and JavaScript count: two for everything beyond the basic plane."""
    return len(text) + sum(sign > "\uffff" for sign in text)
