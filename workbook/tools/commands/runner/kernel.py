"""Kernels that end: with their notebook, at a time limit, or at Ctrl-C.

Each kernel leads a process group, so that a stuck one ends together with what it started. A thread keeps the limit and
kills the group; nbclient then notices that its kernel is gone.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, TypeVar
from uuid import uuid4

Item = TypeVar("Item")

KERNEL_NAME = "python3"


class Kernel:
    """One notebook's kernel.

    Attributes:
        expired: the time limit passed.
        stopped: `stop` was called.
        pid: of its process, once there is one.
        scratch: its directory for temporary files, which ends with it. It holds the file with the kernel's ports and
            signing key, and those of kernels that the notebook started itself and can no longer end.
    """

    def __init__(self, *, limit: float | None, env: Mapping[str, str] | None = None) -> None:
        self.limit = limit
        self.env = None if env is None else dict(env)
        self.expired = False
        self.stopped = False
        self.pid: int | None = None
        self.scratch = ""
        self._closed = False
        self._wake = threading.Event()

    def stop(self) -> None:
        """Ask for the end, from any thread; returns at once."""
        self.stopped = True
        self._wake.set()

    @contextmanager
    def watched(self) -> Iterator[Kernel]:
        """Keep the limit inside the block; leave no process and no temporary file behind."""
        watch = threading.Thread(target=self._watch, daemon=True, name="kernel watch")
        self.scratch = mkdtemp(prefix="workbook-kernel-")
        watch.start()
        try:
            yield self
        finally:
            self._closed = True
            self._wake.set()
            watch.join()
            self.kill()
            self._remove_scratch()

    def _remove_scratch(self) -> None:
        # A kernel that the notebook started itself notices within a second that its parent has ended, and writes there
        # until then: a directory that cannot be removed at the first try can be removed a moment later.
        until = time.monotonic() + 5.0  # seconds
        while True:
            shutil.rmtree(self.scratch, ignore_errors=True)
            if not Path(self.scratch).exists() or time.monotonic() > until:
                return
            time.sleep(0.1)

    def _watch(self) -> None:
        self._wake.wait(self.limit)
        if not self._closed and not self.stopped:
            self.expired = True
        while not self._closed:
            self.kill()
            time.sleep(0.1)  # the kernel may be about to start when the first kill comes

    def kill(self) -> None:
        """End the kernel's process and everything that it started."""
        if self.pid is None:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL) if hasattr(os, "killpg") else os.kill(self.pid, signal.SIGTERM)


def manager_class(kernel: Kernel) -> type[Any]:
    """A kernel manager for nbclient that starts this interpreter, and fills in `kernel`'s process id.

    What the kernel's process itself prints is dropped: it is no output of the notebook, and may hold anything.
    """
    from ipykernel.kernelspec import get_kernel_dict  # heavy: only when a notebook runs
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager

    class ThisInterpreter(KernelSpecManager):
        def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
            return KernelSpec(name=kernel_name, **get_kernel_dict())

    class Managed(AsyncKernelManager):
        def __init__(self, **options: Any) -> None:
            super().__init__(**options, kernel_spec_manager=ThisInterpreter())
            self.connection_file = str(Path(kernel.scratch) / f"kernel-{uuid4()}.json")
            # Free ports are looked for before the kernel takes them, and another program may be quicker. A socket in
            # the kernel's own directory is nobody else's; where its path is too long for one, ports it is.
            if hasattr(socket, "AF_UNIX") and len(self.connection_file) < 90:
                self.transport = "ipc"

        async def start_kernel(self, **options: Any) -> None:  # type: ignore[override]  # its stubs forget async
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            env = {**(os.environ if kernel.env is None else kernel.env), "TMPDIR": kernel.scratch}
            env["WORKBOOK_UNATTENDED"] = "1"  # no learner: a copy's progress stays as it is
            await super().start_kernel(**quiet, env=env, **options)
            kernel.pid = getattr(self.provisioner, "pid", None)

    return Managed


@contextmanager
def no_late_cleanup(client: Any) -> Iterator[None]:
    """Remove nbclient's exit handler: after a kernel that never answered, it raises when the process ends."""
    try:
        yield
    finally:
        atexit.unregister(client._cleanup_kernel)  # noqa: SLF001  # nbclient registers it and never removes it


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

    def each(self, work: Callable[[Item], Any], items: Sequence[Item], done: Callable[[Any], None]) -> None:
        """Call `work(item)` on threads, two at once, and `done(result)` on this thread as each ends.

        Raises:
            KeyboardInterrupt: Ctrl-C; every kernel has ended by then, and `done` got the results that there are.
        """
        open_jobs: set[Future[Any]] = set()
        pool = ThreadPoolExecutor(min(2, os.cpu_count() or 1), thread_name_prefix="notebook")
        try:
            for item in items:
                open_jobs.add(pool.submit(_with_own_loop, work, item))
            for job in as_completed(tuple(open_jobs)):
                open_jobs.discard(job)
                done(job.result())
        except BaseException:
            self.stop()
            pool.shutdown(cancel_futures=True)
            for job in open_jobs:
                # an exception of a job whose kernel was killed is a consequence of the interrupt, so it is dropped
                if not job.cancelled() and job.exception() is None:
                    done(job.result())
            raise
        pool.shutdown()


def _with_own_loop(work: Callable[[Item], Any], item: Item) -> Any:
    from jupyter_core.utils import ensure_event_loop  # arrives with the kernels

    loop = ensure_event_loop()
    try:
        return work(item)
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def one_plus_one() -> str:
    """What a fresh kernel says that 1 + 1 is.

    Raises:
        Exception: whatever kept the kernel from starting or answering.
    """
    from nbclient import NotebookClient  # heavy
    from nbformat.v4 import new_code_cell, new_notebook

    notebook = new_notebook(cells=[new_code_cell("1 + 1")])  # type: ignore[no-untyped-call]
    fleet = Fleet()

    def execute(notebook: Any) -> None:
        with fleet.kernel(limit=60.0) as kernel:
            client = NotebookClient(notebook, kernel_name=KERNEL_NAME, kernel_manager_class=manager_class(kernel))
            with no_late_cleanup(client):
                client.execute()

    fleet.each(execute, [notebook], lambda _: None)
    return str(notebook.cells[0].outputs[0].data["text/plain"])
