"""The bench of retrieval: what it reads, what it keeps, how it judges."""

import json
from pathlib import Path

import pytest

from kai.bench import talks
from kai.bench.retrieval import judged
from kai.clock import SystemClock
from kai.memory.retrieval import StoreRetriever
from kai.model.agents import Policy
from kai.store.database import open_store

DATA = [
    {
        "sample_id": "made-up",
        "conversation": {
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "The spare key hangs in the shed."},
                {"speaker": "Bob", "dia_id": "D1:2", "text": "Good, I feed the hens then."},
            ],
            "session_2_date_time": "9:00 am on 1 June, 2023",
            "session_2": [{"speaker": "Ann", "dia_id": "D2:1", "text": "The hens laid two eggs."}],
        },
        "qa": [
            {"question": "Where does the spare key hang?", "evidence": ["D1:1"], "category": 4},
            {"question": "Who feeds the hens, and what came of it?", "evidence": ["D1:2; D2:1"], "category": 1},
            {"question": "What colour is the car?", "evidence": [], "category": 5},
            {"question": "Not in the file?", "evidence": ["D9:9"], "category": 4},
        ],
    }
]


@pytest.fixture
def talk(tmp_path: Path) -> talks.Talk:
    path = tmp_path / "data.json"
    path.write_text(json.dumps(DATA))
    return talks.read(path)[0]


def test_turns_have_their_moment_and_questions_their_evidence(talk: talks.Talk) -> None:
    assert [(turn.turn, f"{turn.at:%Y-%m-%d %H:%M:%S}") for turn in talk.turns] == [
        ("D1:1", "2023-05-08 13:56:00"),
        ("D1:2", "2023-05-08 13:56:20"),
        ("D2:1", "2023-06-01 09:00:00"),
    ]
    assert [question.evidence for question in talk.questions] == [{"D1:1"}, {"D1:2", "D2:1"}]


async def test_a_talk_is_found_by_the_search_of_the_product(talk: talks.Talk, tmp_path: Path) -> None:
    async with open_store(tmp_path / "kai.db", clock=SystemClock()) as store:
        kept = await store.write(talks.keep, talk)
        found, _ = await StoreRetriever(store, SystemClock()).search(
            kept.scope, talk.questions[0].text, Policy(min_score=0.0)
        )
    assert kept.turns[found.scored[0].record.record] == "D1:1"


def test_a_ranking_is_judged_by_its_evidence() -> None:
    found = judged(["x", "a", *"uvwyz", "b"], frozenset("ab"))
    assert (found.recall, found.hit) == ({5: 0.5, 10: 1.0, 20: 1.0}, {5: 1.0, 10: 1.0, 20: 1.0})
    assert 0 < found.ndcg < 1
    assert judged(["a", "b"], frozenset("ab")).ndcg == 1
    assert judged([], frozenset("a")).recall[20] == 0
