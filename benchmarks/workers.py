"""Work spread over processes, and stopped by Ctrl-C without losing what is finished."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice
from multiprocessing import active_children, get_context
from signal import SIG_IGN, SIGINT, signal
from typing import Any, Generic, Self, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

AHEAD = 2
"""Items handed out for each worker, so that none waits and results do not pile up."""

_task: Callable[[Any], Any]  # set in worker processes only


def _start_worker(task: Callable[[Any], Any]) -> None:
    global _task
    signal(SIGINT, SIG_IGN)  # Ctrl-C reaches all processes of a terminal; the parent decides what comes of it
    _task = task


def _call_task(item: Any) -> Any:
    return _task(item)


def spread(task: Callable[[Item], Result], items: Iterable[Item], workers: int, *, ordered: bool) -> Generator[Result]:
    """Do a task for every item, in this process (``workers=1``) or in several others.

    Parameters
    ----------
    task
        What to do; with several workers it must be picklable, and is sent to each of them once.
    items
        Taken one by one.
    workers
        Number of processes.
    ordered
        Whether results come in the order of the items, or as they are finished.
    """
    if workers == 1:
        yield from map(task, items)
        return
    waiting = iter(items)
    others = set(active_children())
    # Spawned, not forked: a fork copies the locks of PyTorch's threads in whatever state they are.
    with ProcessPoolExecutor(workers, get_context("spawn"), _start_worker, (task,)) as pool:
        going: list[Future[Result]] = []
        try:
            while True:
                going += [pool.submit(_call_task, item) for item in islice(waiting, AHEAD * workers - len(going))]
                if not going:
                    return
                finished = {going[0]} if ordered else wait(going, return_when=FIRST_COMPLETED).done
                yield from [future.result() for future in going if future in finished]
                going = [future for future in going if future not in finished]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in set(active_children()) - others:
                child.terminate()
            raise


class Stoppable(Generic[Item]):
    """The items of a source until Ctrl-C, which ends the series and never strikes while an item is dealt with.

    >>> with Stoppable(spread(abs, [-1, -2], 1, ordered=True)) as items:
    ...     print(list(items), items.stopped)
    [1, 2] False
    """

    def __init__(self, source: Generator[Item]) -> None:
        self._source = source
        self._waiting = False
        self.stopped = False
        """Whether Ctrl-C ended the series."""

    def __enter__(self) -> Self:
        try:
            self._before = signal(SIGINT, self._interrupt)
        except ValueError:  # not in the main thread, where signals do not come
            self._before = None
        return self

    def __exit__(self, *_: object) -> None:
        self._source.close()
        if self._before is not None:
            signal(SIGINT, self._before)

    def _interrupt(self, *_: object) -> None:
        self.stopped = True
        if self._waiting:
            raise KeyboardInterrupt

    def __iter__(self) -> Iterator[Item]:
        return self

    def __next__(self) -> Item:
        if self.stopped:
            raise StopIteration
        try:
            self._waiting = True
            return next(self._source)
        except KeyboardInterrupt:
            self.stopped = True
            raise StopIteration from None
        finally:
            self._waiting = False
