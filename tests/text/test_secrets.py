"""A secret is known in the forms that people paste it, and ordinary talk is none."""

import pytest

from kai.text.secrets import secret_in

KEY = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("-----BEGIN RSA PRIVATE KEY-----", "private_key"),
        (f"ghp_{KEY}", "token"),
        (f"export OPENAI=sk-proj-{KEY}", "token"),
        (f"sk-ant-api03-{KEY}", "token"),
        ("AKIAIOSFODNN7EXAMPLE", "token"),
        (f"xoxb-1234567890-{KEY}", "token"),
        (f"123456789:AA{KEY}{KEY}", "token"),
        (f"Authorization: Bearer {KEY}", "token"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abcDEF123", "token"),
        ("postgres://ann:s3cretpw@db.local/x", "password"),
        ("my password is hunter2!", "password"),
        ("Passwort: geheim123", "password"),
        ("das Kennwort lautet Sommer2026", "password"),
        ("api_key=abcdef123456", "password"),
        ("p\u200bassword is hunter2!x", "password"),
        ("ｐａｓｓｗｏｒｄ： hunter2!x", "password"),
        ("PIN: 4711", "pin"),
        ("4111 1111 1111 1111", "card"),
        ("378282246310005", "card"),
        ("4\u200b111-1111-1111-1111", "card"),
    ],
)
def test_secrets_are_known(text: str, kind: str) -> None:
    assert secret_in(f"please keep: {text} thanks") == kind


@pytest.mark.parametrize(
    "text",
    [
        "Ann's birthday is on 1990-05-12 and her phone is +49 30 1234567",
        "The password manager is Bitwarden, ask me before you change a password.",
        "The wifi password is on the fridge",
        "The token ring was a network; tokens are words for a model.",
        "Order 4111111111111112 has arrived",
        "The IBAN is DE89 3704 0044 0532 0130 00",
        "https://example.org/a:b@c",
        "pin the note to the board; pins are in drawer 12",
        "1234567890123 is a number of thirteen digits",
        "",
    ],
)
def test_ordinary_talk_is_no_secret(text: str) -> None:
    assert secret_in(text) == ""
