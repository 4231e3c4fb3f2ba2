"""Kernels that end: with their notebook, at a time limit, or at Ctrl-C.

A kernel is its own process group, so that a stuck one and what it started go together. The limit is kept
by a thread that kills the group; nbclient then notices that its kernel is gone.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import signal
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

T = TypeVar("T")

KERNEL_NAME: Final = "python3"
AT_ONCE: Final = 2
_AGAIN: Final = 0.1  # seconds between two kills: a kernel may be about to start when the first one comes


class Kernel:
    """One notebook's kernel.

    Attributes:
        expired: the time limit passed.
        stopped: somebody asked it to end.
        pid: of its process, once there is one.
    """

    def __init__(self, *, limit: float | None, env: Mapping[str, str] | None = None) -> None:
        self.limit = limit
        self.env = None if env is None else dict(env)
        self.expired = False
        self.stopped = False
        self.pid: int | None = None
        self._closed = False
        self._wake = threading.Event()

    def stop(self) -> None:
        """Ask for the end, from any thread; returns at once."""
        self.stopped = True
        self._wake.set()

    @contextmanager
    def watched(self) -> Iterator[Kernel]:
        """Keep the limit inside the block, and leave no process behind."""
        watch = threading.Thread(target=self._watch, daemon=True, name="kernel watch")
        watch.start()
        try:
            yield self
        finally:
            self._closed = True
            self._wake.set()
            watch.join()
            self.kill()

    def _watch(self) -> None:
        self._wake.wait(self.limit)
        if not self._closed and not self.stopped:
            self.expired = True
        while not self._closed:
            self.kill()
            threading.Event().wait(_AGAIN)

    def kill(self) -> None:
        """End the kernel's process and everything that it started."""
        if self.pid is None:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL) if hasattr(os, "killpg") else os.kill(self.pid, signal.SIGTERM)


def manager_class(kernel: Kernel) -> type[Any]:
    """A kernel manager for nbclient that starts this interpreter and tells `kernel` the process id.

    What the kernel's process itself prints goes nowhere: it is not the notebook's output, and may hold anything.
    """
    from ipykernel.kernelspec import get_kernel_dict  # noqa: PLC0415  # heavy: only when a notebook runs
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager  # noqa: PLC0415
    from jupyter_client.manager import AsyncKernelManager  # noqa: PLC0415

    class ThisInterpreter(KernelSpecManager):
        def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
            return KernelSpec(name=kernel_name, **get_kernel_dict())

    class Managed(AsyncKernelManager):
        def __init__(self, **options: Any) -> None:
            super().__init__(**options, kernel_spec_manager=ThisInterpreter())

        async def start_kernel(self, **options: Any) -> None:  # type: ignore[override]  # its stubs forget async
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            env = {} if kernel.env is None else {"env": kernel.env}
            await super().start_kernel(**quiet, **env, **options)
            kernel.pid = getattr(self.provisioner, "pid", None)

    return Managed


@contextmanager
def no_late_cleanup(client: Any) -> Iterator[None]:
    """Take back nbclient's own exit handler: it fails, loudly, after a kernel that never answered."""
    try:
        yield
    finally:
        atexit.unregister(client._cleanup_kernel)  # noqa: SLF001  # nbclient registers it and forgets it


class Fleet:
    """Kernels that work side by side, at most two at once, and that end together."""

    def __init__(self) -> None:
        self._kernels: list[Kernel] = []
        self._lock = threading.Lock()
        self.stopped = False

    @contextmanager
    def kernel(self, *, limit: float | None, env: Mapping[str, str] | None = None) -> Iterator[Kernel]:
        """A kernel that this fleet can stop; it never outlives the block."""
        kernel = Kernel(limit=limit, env=env)
        with self._lock:
            self._kernels.append(kernel)
            if self.stopped:
                kernel.stop()
        with kernel.watched():
            yield kernel

    def stop(self) -> None:
        """End every kernel, and every one that is about to start."""
        with self._lock:
            self.stopped = True
            for kernel in self._kernels:
                kernel.stop()

    def each(self, work: Callable[[T], Any], items: Sequence[T], done: Callable[[Any], None]) -> None:
        """Call `work(item)` on threads, two at once, and `done(result)` here as each ends.

        Raises:
            KeyboardInterrupt: Ctrl-C; by then every kernel has ended and `done` knows what was running.
        """
        workers = min(AT_ONCE, os.cpu_count() or 1)
        with ThreadPoolExecutor(workers, thread_name_prefix="notebook") as pool:
            open_jobs = {pool.submit(_with_own_loop, work, item) for item in items}
            try:
                for job in as_completed(tuple(open_jobs)):
                    open_jobs.discard(job)
                    done(job.result())
            except BaseException:
                self.stop()
                pool.shutdown(cancel_futures=True)
                for job in open_jobs:
                    # what a job met because its kernel was ended is not what happened: Ctrl-C is
                    if not job.cancelled() and job.exception() is None:
                        done(job.result())
                raise


def _with_own_loop(work: Callable[[T], Any], item: T) -> Any:
    from jupyter_core.utils import ensure_event_loop  # noqa: PLC0415  # arrives with the kernels

    loop = ensure_event_loop()
    try:
        return work(item)
    finally:
        asyncio.set_event_loop(None)
        loop.close()
