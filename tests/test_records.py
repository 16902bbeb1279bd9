"""Game records: written, read back, refused when wrong, shown."""

from __future__ import annotations

import copy
import gzip
import io
import itertools
import json
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import assert_same
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from record_corruptions import CORRUPTIONS, Corruption
from referees import replay
from variants import VARIANTS, all_variants, variant_id

from slopes_envs import DealError, Game, IllegalAction, InformationSet, game_names, make_game, match_seed
from slopes_envs.cards import Deck
from slopes_envs.records import (
    BATCH,
    Record,
    Recorder,
    RecordError,
    Verified,
    read_records,
    reading,
    record_lines,
    record_matches,
    show,
    verify_file,
    verify_lines,
    verify_records,
    verifying,
    write_lines,
    write_records,
)

RECORDS = Path(__file__).parent / "records"


def at_random(view: InformationSet) -> NDArray[np.int64]:
    return view.sample_legal()


def lowest(view: InformationSet) -> NDArray[np.int64]:
    return view.legal.argmax(axis=1)


def played(game: Game[Any, Any], matches: int = 3, **how: Any) -> list[Record]:
    """Records of random matches."""
    how = {"legal": True, **how}
    return list(record_matches(game, at_random, match_seed(1, np.arange(matches)), **how))


def as_lines(records: list[Record]) -> list[bytes]:
    return [json.dumps(record).encode() for record in records]


def verified(*records: Record, batch: int = BATCH) -> list[Verified]:
    return list(verify_lines(as_lines(list(records)), batch))


def refusal(lines: list[bytes], batch: int = BATCH) -> RecordError:
    with pytest.raises(RecordError) as caught:
        list(verify_lines(lines, batch))
    return caught.value


@cache
def given_records(name: str) -> list[bytes]:
    """Lines of the records that came with the rules, the shortest first."""
    with gzip.open(RECORDS / f"{name}.jsonl.gz") as lines:
        return sorted(lines, key=len)


@cache
def short_record(name: str) -> bytes:
    """A short one of them, with more than one hand if the game has such."""
    return min(given_records(name), key=lambda line: (len(json.loads(line)["hands"]) < 2, len(line)))


# --------------------------------------------------------------------------------------------- records from elsewhere


@pytest.mark.parametrize("name", game_names())
def test_records_from_elsewhere_verify(name: str) -> None:
    lines = given_records(name)
    records = [json.loads(line) for line in lines]
    summary = verify_file(RECORDS / f"{name}.jsonl.gz")
    assert summary.records == len(lines) == summary.games[name]
    assert summary.hands == sum(len(record["hands"]) for record in records)
    assert summary.moves == sum(len(hand["moves"]) for record in records for hand in record["hands"])
    assert summary.ends["terminated"] + summary.ends["truncated"] == len(lines)


# ------------------------------------------------------------------------------------------------------ written records


@pytest.mark.parametrize("variant", all_variants(), ids=variant_id)
def test_what_is_written_verifies_and_the_referee_agrees(variant: tuple[str, dict[str, Any]]) -> None:
    name, rules = variant
    game = make_game(name, **rules)
    matches = 2 if rules else 1  # those of default options are long
    records = played(game, matches, players=["random"] * game.num_players)
    assert len(verified(*records)) == matches
    for number, record in enumerate(records):
        replay(record)
        assert list(record) == ["format", "game", "rules", "seed", "players", "hands", "scores", "end"]
        assert "reward" not in record["rules"]
        assert record["seed"] == match_seed(1, number)[0] and type(record["seed"]) is int
        assert record["players"] == ["random"] * game.num_players
        assert json.loads(json.dumps(record)) == record


@pytest.mark.parametrize("variant", all_variants(), ids=variant_id)
def test_unfinished_matches(variant: tuple[str, dict[str, Any]]) -> None:
    name, rules = variant
    game = make_game(name, **rules)
    for max_moves in (0, 1, 7, 40):
        for record in played(game, 2, max_moves=max_moves):
            moves = sum(len(hand["moves"]) for hand in record["hands"])
            assert moves == max_moves or record["end"] != "unfinished"
            if record["end"] == "unfinished":
                assert record["hands"][-1]["scores"] is None
            verified(record)
            replay(record)


@pytest.mark.parametrize("name", game_names())
def test_an_unfinished_record_may_stop_between_hands(name: str) -> None:
    record = json.loads(short_record(name))
    last = record["hands"].pop()
    record["scores"] = [now - change for now, change in zip(record["scores"], last["scores"], strict=True)]
    record["end"] = "unfinished"
    assert verified(record)[0].hands == len(record["hands"])
    record["scores"][0] += 1
    assert refusal(as_lines([record])).reason.startswith("final scores")


@pytest.mark.parametrize("name", game_names())
def test_legal_actions_may_stand_at_some_moves_only(name: str) -> None:
    record = json.loads(short_record(name))
    for move in record["hands"][0]["moves"][::2]:
        del move["legal"]
    verified(record)
    record["hands"][0]["moves"][1]["legal"].append("more")
    fault = refusal(as_lines([record]))
    assert (fault.hand, fault.move) == (1, 2)


@pytest.mark.parametrize("name", game_names())
def test_cards_of_a_hand_may_be_in_any_order_and_options_too(name: str) -> None:
    record = json.loads(short_record(name))
    for hand in record["hands"]:
        hand["deal"]["hands"] = [cards[::-1] for cards in hand["deal"]["hands"]]
    record["rules"] = dict(reversed(record["rules"].items()))
    verified(record)


@pytest.mark.parametrize("name", game_names())
def test_without_legal_actions_only_they_are_missing(name: str) -> None:
    game = make_game(name, **VARIANTS[name][-1])
    plain, full = played(game, 2, legal=False), played(game, 2)
    for hand in (hand for record in full for hand in record["hands"]):
        for move in hand["moves"]:
            assert move["action"] in move.pop("legal")
    assert plain == full


@pytest.mark.parametrize("name", game_names())
def test_the_batch_does_not_matter(name: str, tmp_path: Path) -> None:
    game = make_game(name, **VARIANTS[name][-1])
    files = []
    for batch in (1, 3, 64):
        files.append(tmp_path / f"{batch}.jsonl.gz")
        write_records(files[-1], played(game, 5, batch=batch, max_moves=150))
    assert len({file.read_bytes() for file in files}) == 1
    alone = record_matches(game, at_random, match_seed(1, 4), legal=True, max_moves=150)
    assert list(alone) == list(read_records(files[0]))[4:]


@pytest.mark.parametrize("name", game_names())
def test_one_policy_a_seat(name: str) -> None:
    game = make_game(name, **VARIANTS[name][-1])
    policies = [lowest, *[at_random] * (game.num_players - 1)]
    for record in record_matches(game, policies, match_seed(2, np.arange(3)), legal=True):
        moves = [move for hand in record["hands"] for move in hand["moves"]]
        assert all(move["action"] == move["legal"][0] for move in moves if move["seat"] == 0)
        assert any(move["action"] != move["legal"][0] for move in moves if move["seat"] != 0)


@pytest.mark.parametrize("name", game_names())
def test_recorder(name: str) -> None:
    """Scripted deals have no seed; records can be asked for at any time, and stay as they were."""
    game = make_game(name, **VARIANTS[name][-1])
    scripts = [deals_of(record)[:1] for record in played(game, 2)]  # later deals may depend on play
    recorder = Recorder(game, game.from_deals(scripts, then_seeds=[3, 4]))
    for _ in range(4):
        recorder.step(at_random(InformationSet(game, recorder.state)))
    early = list(recorder.records())
    kept = copy.deepcopy(early)
    while len(recorder.state):
        recorder.step(at_random(InformationSet(game, recorder.state)))
    late = list(recorder.records())
    assert early == kept
    assert verified(*early, *late)
    for record, script in zip(late, scripts, strict=True):
        assert record["seed"] is None and record["players"] is None
        assert record["hands"][0]["deal"]["hands"] == script[0]["deal"]["hands"]


@pytest.mark.parametrize("name", game_names())
def test_lines_and_objects_are_the_same_records(name: str, tmp_path: Path) -> None:
    game = make_game(name, **VARIANTS[name][-1])
    how: dict[str, Any] = {"players": ['a "b"\n', *[None] * (game.num_players - 1)], "max_moves": 60}
    for legal in (False, True):
        lines = list(record_lines(game, at_random, match_seed(1, np.arange(3)), legal=legal, **how))
        records = played(game, 3, legal=legal, **how)
        assert lines == [line + b"\n" for line in as_lines(records)]
        assert write_lines(tmp_path / "lines.jsonl.gz", lines) == write_records(tmp_path / "objects.jsonl.gz", records)
        assert (tmp_path / "lines.jsonl.gz").read_bytes() == (tmp_path / "objects.jsonl.gz").read_bytes()


@pytest.mark.parametrize("name", game_names())
def test_wrong_use_is_refused(name: str) -> None:
    game = make_game(name)
    p = game.num_players

    def never_legal(view: InformationSet) -> NDArray[np.int64]:
        return view.legal.argmin(axis=1)

    def unknown(view: InformationSet) -> NDArray[np.int64]:
        return np.full(len(view), game.num_actions)

    def real(view: InformationSet) -> Any:
        return np.zeros(len(view))

    for policy in (never_legal, unknown):
        with pytest.raises(IllegalAction):
            list(record_matches(game, policy, [1, 2]))
    with pytest.raises(ValueError, match="expected whole-number actions"):
        list(record_matches(game, real, [1]))
    with pytest.raises(ValueError, match=f"expected one policy or {p}, one a seat, got {p + 1}"):
        record_matches(game, [at_random] * (p + 1), [1])
    with pytest.raises(ValueError, match=f"players: expected {p} labels"):
        list(record_matches(game, at_random, [1], players=["random"] * (p - 1)))
    with pytest.raises(ValueError, match="batch: expected at least 1 match, got 0"):
        record_matches(game, at_random, [1], batch=0)
    with pytest.raises(ValueError, match="seeds: expected 1, one a match, got 2"):
        Recorder(game, game.new([1]), seeds=[1, 2])


def test_an_illegal_action_leaves_the_transcript_as_it_was() -> None:
    game = make_game(game_names()[0])
    recorder = Recorder(game, game.new([1, 2]))
    before = list(recorder.records())
    with pytest.raises(IllegalAction):
        recorder.step([0, game.num_actions - 1])
    assert list(recorder.records()) == before


# ------------------------------------------------------------------------------------------------------- wrong records


def corrupted() -> list[Any]:
    return [
        pytest.param(name, corruption, id=f"{name}-{corruption.name}")
        for name in game_names()
        for corruption in CORRUPTIONS
        if corruption.fits(json.loads(short_record(name)))
    ]


def test_there_are_many_corruptions() -> None:
    assert len({corruption.name for corruption in CORRUPTIONS}) == len(CORRUPTIONS) > 150


@pytest.mark.parametrize(("name", "corruption"), corrupted())
def test_refused_with_line_hand_move_and_reason(name: str, corruption: Corruption) -> None:
    right = short_record(name)
    text, fault = corruption.apply(json.loads(right))
    found = verify_lines([right, text + b"\n", right])
    assert next(found).line == 1
    with pytest.raises(RecordError) as caught:
        next(found)
    error = caught.value
    assert (error.line, error.hand, error.move) == (2, fault.hand, fault.move), error
    assert re.search(fault.reason, error.reason)
    where = [f"line {2}", f"hand {fault.hand}" * bool(fault.hand), f"move {fault.move}" * bool(fault.move)]
    assert str(error) == f"{', '.join(filter(None, where))}: {error.reason}"
    assert len(str(error)) < 1000
    assert str(refusal([text])) == str(error).replace("line 2", "line 1")


@pytest.mark.parametrize("name", game_names())
def test_the_first_problem_of_a_file_counts(name: str) -> None:
    """Whether it shows at once or late in play, and whatever the batches."""
    right = short_record(name)
    kinds = {corruption.name: corruption for corruption in CORRUPTIONS}
    early, late, unread = (kinds[kind].apply(json.loads(right))[0] for kind in ("card_null", "other_end", "not_utf8"))
    for first, second in itertools.permutations((early, late, unread), 2):
        alone = str(refusal([right, right, first]))
        for batch in (1, 3, BATCH):
            assert str(refusal([right, right, first, right, second, right], batch)) == alone


@pytest.mark.parametrize("name", game_names())
def test_batches_of_mixed_rules_are_verified_line_by_line(name: str) -> None:
    games = [make_game(name, **rules) for rules in VARIANTS[name][:3]]
    records = [record for game in games for record in played(game, 3, max_moves=60)]
    mixed = [records[i] for i in np.random.default_rng(1).permutation(len(records))]
    together, alone = verified(*records), verified(*mixed, batch=1)
    key = [(found.moves, found.hands, found.end, found.text) for found in together]
    assert sorted(key) == sorted((found.moves, found.hands, found.end, found.text) for found in alone)
    assert [found.record() for found in alone] == mixed


def paths_of(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where every part of a JSON value stands."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from paths_of(item, (*path, key))


ODD = st.sampled_from(
    [None, True, False, 0, 1, -1, 3.0, 0.5, "", "AC", "bid 1", [], {}, [[]], [None], 2**31, 2**63, 2**70, "hand"]
) | st.integers(-300, 300)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(game_names()), st.randoms(use_true_random=False), ODD)
def test_any_odd_value_is_refused_or_right(name: str, random: Any, odd: Any) -> None:
    """No value anywhere can break the reader, nor slip through against the judgement of the referee."""
    record = json.loads(short_record(name))
    *parents, key = random.choice(list(paths_of(record)))
    place = record
    for parent in parents:
        place = place[parent]
    if random.random() < 0.2:
        del place[key]
    else:
        place[key] = odd
    try:
        verified(record)
    except RecordError:
        return
    replay(record)


@pytest.mark.parametrize("name", game_names())
def test_options_of_any_size(name: str) -> None:
    """A limit beyond every number of the arrays is a limit that is never reached."""
    limits = {"target_score", "max_hands", "max_turns", "rounds"} & make_game(name).rules.record().keys()
    game = make_game(name, **dict.fromkeys(limits, 10**30))
    match = verified(*played(game, 2, max_moves=300))[1]
    assert match.hands > 1 or match.end == "unfinished"


# --------------------------------------------------------------------------------------------------------------- deals


def deals_of(record: Record) -> list[dict[str, Any]]:
    """The hand objects of a record without moves and scores."""
    return [{key: value for key, value in hand.items() if key not in ("moves", "scores")} for hand in record["hands"]]


@pytest.mark.parametrize("name", game_names())
def test_deals_for_play_may_be_text_and_are_as_strict_otherwise(name: str) -> None:
    record = json.loads(short_record(name))
    game = make_game(name, **{key: value for key, value in record["rules"].items() if not isinstance(value, list)})
    deals = deals_of(record)
    as_text = copy.deepcopy(deals)
    for entry in as_text:
        entry["deal"]["hands"] = [" ".join(cards) for cards in entry["deal"]["hands"]]
    assert_same(game.from_deals([deals]), game.from_deals([as_text]), leave_out=("scripts",))
    with pytest.raises(DealError, match="unknown key 'moves'"):
        game.from_deals([record["hands"]])
    with pytest.raises(DealError, match="match 2, hand 1: the key 'deal' is missing"):
        game.from_deals([deals, [{key: value for key, value in deals[0].items() if key != "deal"}]])


def test_cards_from_outside() -> None:
    deck = Deck(suits=("C", "D"), ranks=("A", "2", "3"), extras=("LJ",))
    assert deck.parse_hands([["AC", "LJ"], "3D 2C", []], (2, 2, 0)) == [[0, 6], [5, 1], []]
    assert deck.parse_cards(("AC", "AC"), None, "stock") == [0, 0]
    assert deck.parse_hands([["AC", "AC"]], (2,), copies=2) == [[0, 0]]
    deck.check_copies([0, 0, 1], copies=[2, 1, 0, 0, 0, 0, 0])
    for hands, sizes, copies, reason in [
        ([["AC"]], (1, 1), 1, "hands: expected the hands of 2 seats, got 1"),
        ("AC", (1,), 1, "hands: expected the hands of 1 seats, got 'AC'"),
        ([["AC"], {"2C": 1}], (1, 1), 1, r"seat 1: expected a list of card names, got \{'2C': 1\}"),
        ([["AC", "2C"], ["3C"]], (2, 2), 1, "seat 1: expected 2 cards, got 1"),
        ([["AC", "4C"]], (2,), 1, r"seat 0: unknown card '4C' \(known: AC, 2C, 3C"),
        ([["AC"], ["AC"]], (1, 1), 1, "AC is dealt 2 times, but the deck has it 1 times"),
        ([["AC"], ["2C"]], (1, 1), [1, 0, 1, 1, 1, 1, 1], "2C is dealt 1 times, but the deck has it 0 times"),
    ]:
        with pytest.raises(ValueError, match=f"^{reason}"):
            deck.parse_hands(hands, sizes, copies)


# --------------------------------------------------------------------------------------------------------------- files


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.fixture
def right() -> Record:
    return json.loads(short_record(game_names()[0]))


@pytest.mark.parametrize("name", ["r.jsonl", "r.jsonl.gz"])
def test_files_are_json_lines_compressed_by_their_name(name: str, tmp_path: Path, right: Record) -> None:
    assert write_records(tmp_path / name, [right, right]) == 2
    data = (tmp_path / name).read_bytes()
    text = gzip.decompress(data) if name.endswith(".gz") else data
    assert text == 2 * (json.dumps(right).encode() + b"\n")
    assert list(read_records(tmp_path / name)) == [right, right]
    write_records(str(tmp_path / name), iter([right, right]))
    assert (tmp_path / name).read_bytes() == data
    assert names_in(tmp_path) == [name]


@pytest.mark.parametrize("ending", [b"", b"\n", b"\r\n"])
def test_line_endings(ending: bytes, tmp_path: Path) -> None:
    line = short_record(game_names()[0]).rstrip()
    (tmp_path / "r.jsonl").write_bytes(line + (ending or b"\n") + line + ending)
    assert verify_file(tmp_path / "r.jsonl").records == 2


@pytest.mark.parametrize("stop", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("name", ["r.jsonl", "r.jsonl.gz"])
def test_a_file_is_never_half_written(name: str, stop: type[BaseException], tmp_path: Path, right: Record) -> None:
    def broken() -> Iterator[Record]:
        yield right
        raise stop

    with pytest.raises(stop):
        write_records(tmp_path / name, broken())
    assert names_in(tmp_path) == []
    write_records(tmp_path / name, [right])
    before = (tmp_path / name).read_bytes()
    with pytest.raises(stop):
        write_records(tmp_path / name, broken())
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_records(tmp_path / name, [right, {"seed": float("nan")}])
    assert names_in(tmp_path) == [name]
    assert (tmp_path / name).read_bytes() == before


def test_writing_to_streams_devices_and_links(tmp_path: Path, right: Record) -> None:
    stream = io.BytesIO()
    assert write_records(stream, [right]) == 1
    assert stream.getvalue() == json.dumps(right).encode() + b"\n"
    assert write_records(os.devnull, [right]) == 1
    assert not Path(os.devnull).is_file()
    (tmp_path / "real.jsonl").touch()
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "real.jsonl")
    write_records(tmp_path / "link.jsonl", [right])
    assert (tmp_path / "link.jsonl").is_symlink()
    assert verify_file(tmp_path / "real.jsonl").records == 1
    with pytest.raises(IsADirectoryError):
        write_records(tmp_path, [right])
    with pytest.raises(FileNotFoundError):
        write_records(tmp_path / "missing" / "r.jsonl", [right])


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    for name, data in {"r.jsonl": b"", "r.jsonl.gz": gzip.compress(b"")}.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(RecordError, match=r"^line 1: expected a record, and the file is empty$"):
            verify_file(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        verify_file(tmp_path / "missing.jsonl")


def test_damaged_compression_is_refused_after_what_comes_before(tmp_path: Path, right: Record) -> None:
    path = tmp_path / "r.jsonl.gz"
    write_records(path, [right] * 3)
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[-6] ^= 1  # in the checksum
    for data in (whole[:-20], whole[:-1], bytes(flipped), whole + b"more"):
        path.write_bytes(data)
        with pytest.raises(RecordError, match="the compressed data is damaged") as caught:
            verify_file(path)
        assert caught.value.line in (3, 4)  # what can still be decompressed is verified
    path.write_bytes(json.dumps(right).encode())
    with pytest.raises(RecordError, match=r"^line 1: the compressed data is damaged: Not a gzipped file"):
        verify_file(path)
    write_records(path, [right, {**right, "end": "truncated"}, right])
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(RecordError, match=r"^line 2: end: expected"):
        verify_file(path)


def test_reading_needs_only_some_lines_at_a_time(right: Record) -> None:
    line = json.dumps(right).encode()
    asked = itertools.count()
    endless = (line for _ in asked)
    found = verify_lines(endless, batch=4)
    assert [next(found).line for _ in range(9)] == list(range(1, 10))
    assert next(asked) <= 14


def test_long_lines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, right: Record) -> None:
    """Many long records make small batches, and a line that is too long is not read to its end."""
    size = len(json.dumps(right)) + 1
    write_records(tmp_path / "r.jsonl", [right] * 5)
    monkeypatch.setattr(verifying, "MAX_BATCH_TEXT", 2 * size)
    assert [found.line for found in verify_records(tmp_path / "r.jsonl")] == [1, 2, 3, 4, 5]
    monkeypatch.setattr(reading, "MAX_LINE", size - 1)
    with pytest.raises(RecordError, match=f"line 1: expected a record of at most {size - 1} bytes"):
        verify_file(tmp_path / "r.jsonl")


# ------------------------------------------------------------------------------------------------------------- showing


@pytest.mark.parametrize("variant", all_variants(), ids=variant_id)
def test_show_tells_every_card_and_move_in_order(variant: tuple[str, dict[str, Any]]) -> None:
    name, rules = variant
    game = make_game(name, **rules)
    for record in played(game, 2, max_moves=130):
        text = "\n".join(show(record))
        place = 0
        for hand in record["hands"]:
            for card in (card for cards in hand["deal"]["hands"] for card in cards):
                place = text.index(card, place)
            for move in hand["moves"]:
                place = text.index(move["action"], place)
            if hand["scores"] is not None:
                place = text.index(f"scores {' '.join(map(str, hand['scores']))}; now", place)
        last = f"{record['end'].capitalize()} with scores {' '.join(map(str, record['scores']))}"
        assert text.index(last, place) == len(text) - len(last)


def test_show_tells_who_won_each_trick() -> None:
    name = next(name for name in game_names() if "trick" in make_game(name).kind)
    record = json.loads(short_record(name))
    lines = list(show(record))
    tricks = [re.fullmatch(r"  trick (\d+): (\d) .*; won by (\d)", line) for line in lines if "  trick " in line]
    matched = [trick.groups() for trick in tricks if trick is not None]
    assert len(matched) == len(tricks) > 0
    for (number, leader, _), (_, _, winner) in itertools.pairwise(reversed(matched)):
        assert number == "1" or leader == winner


def test_show_escapes_labels(right: Record) -> None:
    right["players"] = ["a\x1b[2J", "b\ud800\n", *[None] * (len(right["scores"]) - 2)]
    assert verified(right)
    first = next(show(right))
    assert first.isprintable() and first.isascii()
    assert r"a\x1b[2J" in first and r"b\ud800\n" in first and "(?)" in first
