"""A wire file as a transcript."""

import json
from pathlib import Path

from kai.protocols import transcript
from kai.wire import record
from kai.wire.record import Kind

REQUEST = {"jsonrpc": "2.0", "id": 1, "method": "initialize"}
ANSWER = {"jsonrpc": "2.0", "id": 1, "result": {"agentInfo": {"name": "a"}}}
ERROR = {"jsonrpc": "2.0", "id": 2, "error": {"code": -32000}}


def recorded(folder: Path, *records: tuple[Kind, bytes]) -> list[transcript.Entry]:
    wire = folder / "wire"
    wire.write_bytes(b"".join(record.encode(kind, payload) for kind, payload in records))
    return list(transcript.entries(wire, 1_000))


def frame(message: object) -> bytes:
    return json.dumps(message).encode() + b"\n"


def test_calls_frames_and_lines_stand_in_their_order_however_they_were_cut(tmp_path: Path) -> None:
    said = frame(ANSWER) + b"no JSON\n\n"
    found = recorded(
        tmp_path,
        (Kind.CALL, b'{"call": "start", "resume": ""}'),
        (Kind.WRITTEN, frame(REQUEST)),
        (Kind.READ, said[:9]),
        (Kind.READ, said[9:]),
    )
    assert found == [
        {"dir": "call", "call": {"call": "start", "resume": ""}},
        {"dir": "in", "msg": REQUEST},
        {"dir": "out", "msg": ANSWER},
        {"dir": "out", "msg": "no JSON"},
    ]


def test_answers_are_found_by_their_request_and_errors_are_none(tmp_path: Path) -> None:
    second = {**REQUEST, "id": 2, "method": "session/new"}
    written = [(Kind.WRITTEN, frame(one)) for one in (REQUEST, second)]
    found = recorded(tmp_path, *written, *((Kind.READ, frame(one)) for one in (ERROR, ANSWER, {**ANSWER, "id": 9})))
    assert transcript.answers(found) == {"initialize": ANSWER["result"]}


def test_what_is_to_be_hidden_is_replaced_by_its_name_the_longest_first() -> None:
    found = [{"dir": "out", "msg": 'key "sek", home /home/ann, cwd /home/ann/x'}]
    hidden = {"KEY": 'key "sek"', "HOME": "/home/ann", "CWD": "/home/ann/x", "EMPTY": ""}
    assert json.loads(transcript.text(found, hidden))["msg"] == "$KEY, home $HOME, cwd $CWD"
