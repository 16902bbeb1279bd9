"""Weights that ship: the file, the command that makes it, the agent that plays from it."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shipped_choices
import torch
from helpers import staggered
from typer.testing import CliRunner

from slopes_agents import make_agent, weights_file
from slopes_agents.advice import make_adviser, needed, observed
from slopes_agents.learned import HEADER, WEIGHTS, load_network, planes_of, read_file
from slopes_agents.network import NetworkShape, PolicyNetwork, masked
from slopes_agents.weights_file import WEIGHTS_FORMAT, CheckpointError, pack_weights, shipped_weights
from slopes_envs import Game, InformationSet, game_names, make_game, match_seed
from slopes_training import ship
from slopes_training.policies import SelfPlayPolicy
from slopes_training.selfplay import SelfPlayMaskablePPO
from slopes_training.tables import SelfPlayEnv, Tables

GAME = "slippery_slope"


def game_of_hands(name: str = GAME) -> Game[Any, Any]:
    return make_game(name, match="hand")


def write_checkpoint(path: Path, name: str = GAME, layers: tuple[int, ...] = (16, 12)) -> SelfPlayMaskablePPO:
    game = game_of_hands(name)
    left_out = (next(iter(game.observation)).name,)
    model = SelfPlayMaskablePPO(
        SelfPlayPolicy,
        SelfPlayEnv([Tables(game, 4, seed=1)]),
        network=NetworkShape(layers, left_out),
        reward_scale=5.0,
        provenance={"command": "slopes train it", "commit": "0" * 40},
        seed=1,
        device="cpu",
    )
    with torch.no_grad():
        model.policy.action_net.weight.mul_(100)  # so that the choices differ
    model.save(path)
    return model


def view_of(game: Game[Any, Any], batch: int = 40) -> InformationSet:
    return InformationSet(game, game.new(match_seed(3, np.arange(batch))))


def change_header(path: Path, change: Any) -> None:
    """Rewrite the header of a checkpoint."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members[HEADER])
    change(header)
    members[HEADER] = json.dumps(header).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


@pytest.mark.parametrize("name", game_names())
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_weights_play_as_their_checkpoint(name: str, dtype: str, tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "best.zip", name)
    out = tmp_path / f"{name}.slopes"
    made = ship.ship(tmp_path, out, dtype)
    assert made["bytes"] == out.stat().st_size
    assert made["agreement"] > 0.97
    game = game_of_hands(name)
    ours, theirs = load_network(out, game), load_network(tmp_path, game)
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert one.dtype == torch.float32
        assert torch.equal(one, other) if dtype == "float32" else torch.allclose(one, other, rtol=1e-3, atol=1e-6)
    view = view_of(game)
    chances = [make_agent(f"ppo:{file},mode=sample", game).probabilities(view) for file in (out, tmp_path)]
    assert np.allclose(*chances, atol=0.02)


def test_the_header_tells_where_it_comes_from(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "best.zip")
    header = ship.ship(tmp_path / "best.zip", tmp_path / "a.slopes")["header"]
    game = game_of_hands()
    assert header["format"] == WEIGHTS_FORMAT
    assert (header["game"], header["game_version"]) == (GAME, 0)
    assert header["rules"] == [game.rules.record()]
    assert header["planes"] == planes_of(game) and header["features"] == 460 and header["actions"] == 41
    assert header["network"] == {"layers": [16, 12], "left_out": ["hand"]}
    assert header["tensors"][0] == ["trunk.layers.0.weight", [16, 430]]
    assert (header["reward"], header["reward_scale"]) == ("score", 5.0)
    assert header["provenance"]["command"] == "slopes train it"
    assert {"seed", "decisions", "commit", "version"} <= set(header["provenance"])


def test_the_file_is_what_the_manual_says(tmp_path: Path) -> None:
    """Read with nothing but the standard library and NumPy."""
    write_checkpoint(tmp_path / "best.zip")
    ship.ship(tmp_path, tmp_path / "a.slopes", "float32")
    first, _, rest = (tmp_path / "a.slopes").read_bytes().partition(b"\n")
    form, length = first.decode().split()
    header = json.loads(rest[: int(length)])
    assert form == WEIGHTS_FORMAT == header["format"]
    numbers = np.frombuffer(rest[int(length) :], "<f4")
    network = load_network(tmp_path, game_of_hands())
    for name, shape in header["tensors"]:
        count = int(np.prod(shape))
        assert np.array_equal(numbers[:count].reshape(shape), network.state_dict()[name].numpy())
        numbers = numbers[count:]
    assert not len(numbers)


def test_the_agent_without_a_path_plays_the_weights_that_ship(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights_file, "files", lambda _: tmp_path)
    game = game_of_hands()
    with pytest.raises(CheckpointError, match=r"no weights ship for slippery_slope \(they do for: none\)"):
        make_agent("ppo", game)
    (tmp_path / "weights").mkdir()
    write_checkpoint(tmp_path / "best.zip")
    ship.ship(tmp_path, tmp_path / "weights" / f"{GAME}.slopes")
    view = view_of(game)
    expected = make_agent(f"ppo:{tmp_path / 'weights' / GAME}.slopes", game).act(view)
    assert np.array_equal(make_agent("ppo", game).act(view), expected)
    sampled = make_agent("ppo:mode=sample", game)
    assert sampled.mode == "sample"  # type: ignore[attr-defined]
    assert (sampled.probabilities(view).max(axis=1) < 1).any()
    with pytest.raises(CheckpointError, match=r"no weights ship for slopes \(they do for: slippery_slope\)"):
        make_agent("ppo", make_game("slopes"))
    with pytest.raises(ValueError, match="mode expected greedy or sample, got 'best'"):
        make_agent("ppo:mode=best", game)
    with pytest.raises(ValueError, match="unknown argument of agent LearnedAgent 'mod'; did you mean 'mode'"):
        make_agent("ppo:mod=sample", game)
    with pytest.raises(ValueError, match="unknown argument of agent LearnedAgent 'network'"):
        make_agent("ppo:network=3", game)


@pytest.mark.parametrize("name", game_names())
def test_weights_that_ship_are_right(name: str) -> None:
    try:
        file = shipped_weights(name)
    except CheckpointError as error:
        assert f"no weights ship for {name}" in str(error)  # noqa: PT017 - whichever games have weights
        return
    assert file.stat().st_size <= weights_file.WEIGHTS_LIMIT
    header, _ = read_file(file)
    assert {"command", "seed", "decisions", "commit"} <= set(header["provenance"])
    for rules in header["rules"]:
        game = make_game(name, **{key: tuple(v) if isinstance(v, list) else v for key, v in rules.items()})
        view = view_of(game)
        assert view.legal[np.arange(40), make_agent("ppo", game).act(view)].all()


def test_answers_do_not_depend_on_the_batch(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "best.zip")
    game = game_of_hands()
    for mode in ("greedy", "sample"):
        agent = make_agent(f"ppo:{tmp_path},mode={mode}", game)
        whole = view_of(game, 64)
        actions, chances = agent.act(whole), agent.probabilities(whole)
        for i in range(0, 64, 7):
            alone = whole.take(np.array([i]))
            assert agent.act(alone)[0] == actions[i]
            assert np.allclose(agent.probabilities(alone)[0], chances[i], atol=1e-5)


def test_torch_is_imported_only_when_it_is_needed() -> None:
    code = "import sys, slopes_agents; from slopes_envs import make_game; slopes_agents.make_agent('random', "
    code += "make_game('slopes')); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# -- what is refused -------------------------------------------------------------------------------------------------


def packed(tmp_path: Path) -> bytes:
    write_checkpoint(tmp_path / "best.zip")
    ship.ship(tmp_path, tmp_path / "right.slopes")
    return (tmp_path / "right.slopes").read_bytes()


def with_header(content: bytes, **changes: Any) -> bytes:
    first, _, rest = content.partition(b"\n")
    length = int(first.split()[1])
    header = json.loads(rest[:length]) | changes
    text = json.dumps({name: value for name, value in header.items() if value is not ...}).encode()
    return f"{WEIGHTS_FORMAT} {len(text)}\n".encode() + text + rest[length:]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda content: content[:-1], r"expected \d+ bytes of tensors behind the header, got \d+"),
        (lambda content: content + b"\0", r"expected \d+ bytes of tensors behind the header, got \d+"),
        (lambda content: content[:60], "its header is not JSON"),
        (lambda content: content[:18], "expected a first line 'slopes-weights/1 LENGTH'"),
        (lambda content: content.replace(b"weights/1", b"weights/2", 1), "expected format 'slopes-weights/1', got"),
        (lambda content: content.replace(b"slopes-weights/1 ", b"slopes-weights/1 -", 1), "expected a first line"),
        (lambda content: with_header(content, format="other"), "expected format 'slopes-weights/1', got 'other'"),
        (lambda content: with_header(content, network=...), "its header lacks network"),
        (lambda content: with_header(content, dtype="int8"), "dtype expected float16 or float32, got 'int8'"),
        (lambda content: with_header(content, tensors=7), "tensors expected"),
        (lambda content: with_header(content, tensors=[["a", [-1]]]), "tensor a: expected sizes above 0"),
        (lambda content: with_header(content, tensors=[["a", [1]], ["a", [1]]]), "tensors expected"),
        (lambda content: with_header(content, game="slopes"), "trained on slopes, asked to play slippery_slope"),
        (lambda content: with_header(content, game_version=9), "trained on version 9 of slippery_slope, this is 0"),
        (lambda content: with_header(content, features=459), "expects 459 features and 41 actions"),
        (
            lambda content: with_header(content, planes=[["hands", 30], ["table", 90]]),
            r"expects an observation with \['hands', 30\], the game has \['hand', 30\]",
        ),
        (lambda content: with_header(content, planes=3), "expects an observation with 3"),
        (lambda content: with_header(content, network={"layers": []}), "network: expected {'layers'"),
        (lambda content: with_header(content, network=[1]), "network: expected {'layers'"),
        (lambda content: with_header(content, network={"layers": [1.5]}), "network: expected {'layers'"),
        (lambda content: with_header(content, network={"layers": [16, 12], "left_out": ["hat"]}), "planes to leave"),
        (lambda content: with_header(content, network={"layers": [16]}), "tensor .* expected .* by its header, got"),
        (
            lambda content: with_header(content, network={"layers": [10**9], "left_out": ["hand"]}),
            r"tensor trunk.layers.0.weight expected \(1000000000, 430\) by its header",
        ),
        (lambda content: content[:-2] + b"\x00\x7c", "numbers that are not finite"),
    ],
)
def test_wrong_weights_are_refused(tmp_path: Path, change: Any, reason: str) -> None:
    content = packed(tmp_path)
    make_agent(f"ppo:{tmp_path / 'right.slopes'}", game_of_hands())
    (tmp_path / "wrong.slopes").write_bytes(change(content))
    with pytest.raises(CheckpointError, match=reason) as caught:
        make_agent(f"ppo:{tmp_path / 'wrong.slopes'}", game_of_hands())
    assert "wrong.slopes" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda header: header.pop("actions"), "its header lacks actions"),
        (lambda header: header.update(format="slopes-checkpoint/9"), "expected format 'slopes-checkpoint/1', got"),
        (lambda header: header["planes"].reverse(), r"expects an observation with \['hand_number', 8\]"),
        (lambda header: header.update(network={"layers": "wide"}), "network: expected"),
        (lambda header: header["network"].update(layers=[16]), "by its header, got"),
    ],
)
def test_checkpoints_with_wrong_headers_are_refused(tmp_path: Path, change: Any, reason: str) -> None:
    path = tmp_path / "some.zip"
    write_checkpoint(path)
    change_header(path, change)
    with pytest.raises(CheckpointError, match=reason):
        make_agent(f"ppo:{path}", game_of_hands())


def test_a_checkpoint_that_holds_code_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "some.zip"
    write_checkpoint(path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    bad = tmp_path / "bad.pth"
    torch.save({"action_net.weight": Path("a")}, bad)
    members[WEIGHTS] = bad.read_bytes()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(CheckpointError, match="holds other things than tensors"):
        make_agent(f"ppo:{path}", game_of_hands())


def test_files_too_large_and_numbers_too_large_are_not_made() -> None:
    game = make_game("sluff")
    network = PolicyNetwork(NetworkShape((1024,)), game.observation, game.num_actions)
    with pytest.raises(ValueError, match=r"at most 4,000,000 bytes, this one would have 7,\d+"):
        pack_weights({"game": "sluff"}, network.state_dict(), "float32")
    assert len(pack_weights({"game": "sluff"}, network.state_dict())) < 4_000_000
    with torch.no_grad():
        network.value_net.bias.fill_(1e5)
    with pytest.raises(ValueError, match=r"tensor value_net\.bias holds numbers that float16 does not"):
        pack_weights({"game": "sluff"}, network.state_dict())
    with pytest.raises(ValueError, match="dtype expected float16 or float32, got 'int8'"):
        pack_weights({"game": "sluff"}, network.state_dict(), "int8")


def test_the_command(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "best.zip")
    import typer

    app = typer.Typer()
    app.command()(ship.main)
    out = tmp_path / f"{GAME}.slopes"
    done = CliRunner().invoke(app, [str(tmp_path), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert f"{out.stat().st_size:,} bytes, the same choice in " in done.output.replace("\n", " ")
    refused = CliRunner().invoke(app, [str(tmp_path), "--out", str(tmp_path / "weights.bin")])
    assert refused.exit_code == 2 and "ends in .slopes" in refused.output
    refused = CliRunner().invoke(app, [str(tmp_path / "none.zip"), "--out", str(out)])
    assert refused.exit_code == 2 and "there is no such file" in refused.output
    change_header(tmp_path / "best.zip", lambda header: header.pop("provenance"))
    refused = CliRunner().invoke(app, [str(tmp_path), "--out", str(tmp_path / "new.slopes")])
    assert refused.exit_code == 2 and "where it comes from" in refused.output
    assert not (tmp_path / "new.slopes").exists()


@pytest.mark.parametrize("name", game_names())
def test_weights_that_ship_see_and_choose_as_they_did(name: str) -> None:
    """A feature that comes to mean something else would make a policy play worse without any error."""
    written = shipped_choices.written()[name]
    assert written["digest"] == shipped_choices.digest(name), "other weights ship: python tests/shipped_choices.py"
    for rules, choices in zip(shipped_choices.OPTIONS[name], written["choices"], strict=True):
        found = shipped_choices.choices(name, rules)
        # Machines add up in different orders, and some choices are close.
        assert len(found) == len(choices) > 100 and (found == np.array(choices)).mean() > 0.99
    for rules, means in zip(shipped_choices.OPTIONS[name], written["shown"], strict=True):
        assert shipped_choices.shown(name, rules) == pytest.approx(means, abs=0.3)  # of 255


@pytest.mark.parametrize("name", game_names())
def test_the_likeliest_action_is_that_of_the_highest_logit(name: str) -> None:
    """Of what ships, whether it looks at observations or at advice alone."""
    game = make_game(name)
    network, state = load_network(shipped_weights(name), game), staggered(game, 400, 120)
    view = InformationSet(game, state, np.maximum(state.seat, 0))
    view = view.take(np.flatnonzero(view.legal.any(axis=1)))
    legal, adviser = torch.from_numpy(view.legal), make_adviser(network.shape.advice, game)
    everything, alone = (torch.from_numpy(see(view, adviser)) for see in (observed, needed))
    with torch.inference_mode():
        logits = network.logits(everything)
        assert torch.equal(network.logits(alone), logits)
        best = masked(logits, legal).argmax(dim=1)
        assert torch.equal(network.likeliest(alone, legal), best)
    assert (network.shape.advice is None) == (everything.shape == alone.shape)
    assert best.unique().numel() > 2
