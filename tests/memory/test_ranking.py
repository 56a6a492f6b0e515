"""The formula, part by part."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kai.memory.ranking import PASSING_ON, Candidate, Ranking, Weights, above, candidates, once_each, ranked
from kai.model.ids import PrincipalId
from kai.model.memory import Origin
from kai.store.eligible import Standing

SCORES = st.dictionaries(st.integers(1, 30), st.floats(0, 50), max_size=20)


def record(seq: int, **more: object) -> Standing:
    made = Standing(
        seq=seq,
        record=f"rec-{seq:03}",
        owner=PrincipalId("p-ann"),
        namespace="person/p-ann/memory",
        family="",
        kind="fact",
        status="active",
        revision=1,
        channel=None,
        audience="[]",
        sensitivity="",
        agent="",
        pinned=0,
        text=f"text {seq}",
        digest=bytes([seq]),
        origin="explicit_user",
        said_by="Ann",
        said_at=0,
        expires_at=None,
    )
    return made._replace(**more)  # type: ignore[arg-type]


def scores(found: Ranking) -> dict[int, float]:
    return {one.seq: pytest.approx(one.score) for one in found[:]}  # type: ignore[misc]


def test_words_alone_count_whole_when_no_other_stage_ran() -> None:
    assert scores(candidates({1: 8.0, 2: 4.0})) == {1: 1.0, 2: 0.5}


def test_both_stages_are_weighed_six_to_four() -> None:
    found = candidates({1: 8.0, 2: 4.0}, {2: 0.9, 3: 0.8, 4: 0.85})
    assert scores(found) == {1: 0.6, 2: 0.3 + 0.4, 3: 0.0, 4: 0.2}


def test_a_stage_that_found_nothing_is_not_one_that_did_not_run() -> None:
    assert scores(candidates({1: 8.0}, {})) == {1: 0.6}
    assert scores(candidates({1: 8.0}, None)) == {1: 1.0}


def test_a_neighbour_hands_on_its_own_score_and_not_what_it_was_handed() -> None:
    found = candidates({1: 8.0, 3: 4.0}, None, lambda rows: [(1, 2), (2, 3), (3, 4)])
    assert scores(found) == {1: 1.0, 2: 0.5, 3: 0.5, 4: 0.25}


def test_a_named_date_adds_its_share() -> None:
    assert scores(candidates({1: 8.0, 2: 8.0}, dated=[2])) == {1: 1.0, 2: 1.3}


def test_parts_say_how_a_score_came_about() -> None:
    (one,) = ranked([(candidates({1: 8.0}, {1: 0.9}, dated=[1])[:1][0], record(1))], {1: 0.9})
    assert one.text == (
        "score=0.900 keyword=1.000 bm25=8.000 vector=1.000 cosine=0.900 dated=1.000 maxsim=0.900 origin=1.000"
    )


def test_word_by_word_likeness_is_mixed_half_and_half() -> None:
    found = [(Candidate(1, 1.0, {"bm25": 0.0}), record(1)), (Candidate(2, 0.5, {"bm25": 0.0}), record(2))]
    assert {one.record.seq: one.score for one in ranked(found, {1: 0.70, 2: 0.95})} == {
        1: pytest.approx(0.5),
        2: pytest.approx(0.75),
    }
    assert [one.record.seq for one in ranked(found, None)] == [1, 2]


def test_what_the_person_did_not_say_counts_less_and_never_more() -> None:
    first = Candidate(1, 1.0, {"bm25": 1.0})
    by_origin = {origin: ranked([(first, record(1, origin=origin))], None)[0].score for origin in Origin}
    assert by_origin[Origin.EXPLICIT_USER] == 1.0
    assert max(by_origin.values()) == 1.0
    assert by_origin[Origin.AUTO_RUN] < by_origin[Origin.IMPORT] < 1.0


def test_ties_go_to_the_smaller_record_id() -> None:
    same = [(Candidate(seq, 1.0, {"bm25": 1.0}), record(seq)) for seq in (3, 1, 2)]
    assert [one.record.record for one in ranked(same, None)] == ["rec-001", "rec-002", "rec-003"]


def test_the_floor_takes_what_is_far_in_meaning_and_has_no_word_of_the_question() -> None:
    def one(**parts: float) -> bool:
        return above(0.78, ranked([(Candidate(1, 1.0, {"bm25": 0.0, **parts}), record(1))], None)[0])

    assert [one(maxsim=0.77), one(maxsim=0.79), one(maxsim=0.5, bm25=2.0), one(cosine=0.5), one()] == [
        False,
        True,
        True,
        False,
        True,
    ]


def test_the_same_text_for_the_same_people_is_told_once() -> None:
    found = [(Candidate(seq, 1.0, {"bm25": 1.0}), record(seq, digest=b"x")) for seq in (1, 2)]
    other = (Candidate(3, 0.5, {"bm25": 1.0}), record(3, digest=b"x", audience='["*"]'))
    assert [one.record.seq for one in once_each(ranked([*found, other], None))] == [1, 3]


def test_neighbours_are_asked_for_once_and_of_the_best_alone() -> None:
    asked: list[list[int]] = []

    def beside(rows: Sequence[int]) -> list[tuple[int, int]]:
        asked.append(list(rows))
        return [(99, 100)]

    found = candidates({seq: float(seq) for seq in range(1, 101)}, None, beside)
    assert asked == [list(range(100, 100 - PASSING_ON, -1))]
    assert found.rows[0] == 100


@given(SCORES, st.none() | SCORES, st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), max_size=10))
def test_any_scores_give_each_row_once_between_0_and_its_bound(
    keyword: dict[int, float], vector: dict[int, float] | None, pairs: list[tuple[int, int]]
) -> None:
    weights = Weights()
    found = candidates(keyword, vector, lambda rows: pairs, (), weights)[:]
    assert len({one.seq for one in found}) == len(found) >= len(keyword.keys() | (vector or {}).keys())
    assert all(0 <= one.score <= 1 + weights.passed_on for one in found)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
