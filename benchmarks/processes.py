"""How much faster several processes are than one: each on a core of its own, all measured at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from signal import SIG_IGN, SIGINT, signal

from .layers import CORE, Table, subject
from .machine import cores, one_core
from .timing import Speed, speed

STOP = None


def _serve(pipe: Connection, core: int, table: Table, batch: int) -> None:
    """Of a process: answer every number of seconds with the speed found in that time."""
    signal(SIGINT, SIG_IGN)  # Ctrl-C is the parent's to deal with, which closes the pipe
    with one_core(core):
        play = subject(table, CORE, batch).play
        play()
        pipe.send(0.0)  # ready
        try:
            while (seconds := pipe.recv()) is not STOP:
                pipe.send(speed(play, seconds))
        except (EOFError, OSError):  # the parent has closed its end
            return


@contextmanager
def _serving(table: Table, batch: int, processes: int) -> Iterator[list[Connection]]:
    context = get_context("spawn")
    pipes: list[Connection] = []
    running = []
    try:
        for core in cores()[-processes:]:
            here, there = context.Pipe()
            process = context.Process(target=_serve, args=(there, core, table, batch), daemon=True)
            process.start()
            there.close()
            running.append(process)
            pipes.append(here)
        for pipe in pipes:
            pipe.recv()
        yield pipes
        for pipe in pipes:
            pipe.send(STOP)
    finally:
        for pipe in pipes:
            pipe.close()
        for process in running:
            process.join()


def gain(table: Table, batch: int, processes: int, runs: int, seconds: float) -> Speed:
    """Decisions of several processes at once over those of one of them alone, both a second: at best ``processes``.

    Parameters
    ----------
    table
        The game, whose layer ``core`` is measured.
    batch
        B, games at once in each process.
    processes
        At most as many as there are cores.
    runs, seconds
        Number of measurements, and how long each is.  One process and several take turns.

    Raises
    ------
    ValueError
        For more processes than cores, or fewer than two.
    """
    check(processes)

    def together(pipes: list[Connection]) -> float:
        for pipe in pipes:
            pipe.send(seconds)
        return float(sum(pipe.recv() for pipe in pipes))

    with _serving(table, batch, processes) as pipes:
        ratios = []
        for number in range(runs):
            alone = [pipes[number % processes]]
            before = together(alone)
            ratios.append(together(pipes) / before)
    return Speed.of(ratios)


def check(processes: int) -> None:
    """ValueError unless so many processes can be measured here."""
    most = len(cores())
    if not 2 <= processes <= most:
        raise ValueError(f"processes: expected 2 to {most}, the cores of this machine, got {processes}")
