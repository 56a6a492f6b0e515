"""Token ids, against those of the models' own tokenizer.json (recorded with the package tokenizers 0.23)."""

import pytest

from kai.memory.embedding.packaged import COLBERT
from kai.memory.embedding.wordpiece import WordPiece


@pytest.fixture(scope="module")
def words() -> WordPiece:
    try:
        lines = COLBERT.path(COLBERT.vocabulary).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    return WordPiece({piece: number for number, piece in enumerate(lines)}, 12)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("", [101, 102]),
        ("Where is the key?", [101, 2073, 2003, 1996, 3145, 1029, 102]),
        ("na\xefve CAF\xc9\u2014d\xe9j\xe0-vu", [101, 15743, 7668, 1517, 2139, 3900, 1011, 24728, 102]),
        ("\u94a5\u5319\u5728\u82b1\u76c6\u4e0b\u9762", [101, 100, 100, 100, 1940, 100, 1743, 1976, 102]),
        ("\u6771\u4eac\u306b\u884c\u304f", [101, 1879, 1755, 1668, 1945, 1653, 102]),
        ("unbelievabilities", [101, 4895, 8671, 2666, 3567, 14680, 102]),
        ("a\x00b\tc\u200bd", [101, 11113, 3729, 102]),
        ("x" * 101, [101, 100, 102]),
        ("C++ && #1: 3.50\u20ac", [101, 1039, 1009, 1009, 1004, 1004, 1001, 1015, 1024, 1017, 1012, 102]),
        ("\xc4rger_macht 100km", [101, 12098, 4590, 1035, 24532, 2102, 2531, 22287, 102]),
        ("emoji \U0001f642 ok", [101, 7861, 29147, 2072, 100, 7929, 102]),
        (
            "one two three four five six seven eight nine ten eleven twelve",
            [101, 2028, 2048, 2093, 2176, 2274, 2416, 2698, 2809, 3157, 2702, 102],
        ),
    ],
)
def test_ids_are_those_of_the_models_own_tokenizer(words: WordPiece, text: str, ids: list[int]) -> None:
    assert words.ids(text) == ids


def test_no_text_gives_more_ids_than_there_is_room_for(words: WordPiece) -> None:
    assert len(words.ids("word " * 1_000_000)) == 12


def test_pieces_are_the_longest_that_are_known() -> None:
    known = {"[CLS]": 0, "[SEP]": 1, "[UNK]": 2, "un": 3, "##able": 4, "##a": 5, "##ble": 6, "u": 7}
    assert WordPiece(known, 9).ids("unable Ünable x") == [0, 3, 4, 3, 4, 2, 1]
