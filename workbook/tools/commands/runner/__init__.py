"""Notebooks that are run, rendered and exported: found by name, read whatever the age of the format, and their kernels.

nbclient starts a kernel, keeps the timeout and ends the kernel. What is added here: the kernel is this interpreter's,
the timeout is that of the whole notebook, and nothing is left behind, whatever the notebook has started.
"""

import asyncio
import atexit
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar
from uuid import uuid4

from workbook.base.children import child_environment, kernel_command
from workbook.base.files import NOTEBOOKS, ScratchFolder
from workbook.base.secrecy import Secrets
from workbook.base.values import quoted
from workbook.errors import ConfigurationError, ParameterError

FIRST_NOTEBOOK = "00_start_here.ipynb"


def notebooks_dir(given: Path | None = None) -> Path:
    """The directory with the notebooks: the given one, else `./notebooks` where that is there, else the workbook's own.

    Raises:
        ConfigurationError: it has none.
    """
    directory = given or Path("notebooks")
    if given is None and not directory.is_dir():
        return NOTEBOOKS
    if not _notebooks(directory):
        raise ConfigurationError(f"No notebooks (*.ipynb) in {str(directory)!r}. Name their folder with --notebooks.")
    return directory.resolve()


def _notebooks(directory: Path) -> list[Path]:
    # a pipe would be waited for without end
    return sorted(path for path in directory.glob("*.ipynb") if path.is_file() and path.name[0] != ".")


def select(names: Sequence[str], directory: Path) -> tuple[Path, ...]:
    """The notebooks of these names, in the directory's order; all when no name is given.

    A name may leave out the suffix, the number or the words: `01`, `activation_data`, `01_activation_data`.

    Raises:
        ParameterError: a name fits no notebook, or several.
    """
    notebooks = _notebooks(directory)
    short_names = {path: _short_names(path) for path in notebooks}
    chosen = set()
    for name in names:
        plain = Path(name).name.removesuffix(".ipynb")
        matches = [path for path, short in short_names.items() if plain in short]
        if len(matches) != 1:
            what = f"{name!r} fits {len(matches)} notebooks." if matches else f"No notebook {name[:60]!r}."
            raise ParameterError(f"{what} Notebooks: {', '.join(path.stem for path in notebooks)}.")
        chosen.add(matches[0])
    return tuple(path for path in notebooks if not names or path in chosen)


def require_code(notebooks: Iterable[Path]) -> None:
    """Make sure that there is something to run, so that no verdict is one about nothing.

    Raises:
        ConfigurationError: no code cell of these notebooks has a line of code.
    """
    if not any(map(_has_code, notebooks)):
        raise ConfigurationError("None of these notebooks has a line of code, so there is nothing to run or to show.")


def _has_code(notebook: Path) -> bool:
    """Whether a code cell has more than comments; of a file that cannot be read, who runs it says so."""
    try:
        cells = json.loads(notebook.read_bytes())["cells"]
        lines = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code").splitlines()
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return True
    return any(line.strip() and line.strip()[0] != "#" for line in lines)


def _short_names(path: Path) -> set[str]:
    number, _, words = path.stem.partition("_")
    return {path.stem, number, words} - {""} if number.isdigit() else {path.stem}


def read_notebook(stored: bytes) -> Any:
    """The notebook in nbformat's newest form, with an id on every cell.

    Raises:
        ConfigurationError: the bytes are not a notebook.
    """
    import nbformat  # 0.8 s

    try:
        # reads, because a file has the lines of a cell in a list
        notebook = nbformat.reads(json.dumps(with_ids(json.loads(stored))), as_version=4)  # type: ignore[no-untyped-call]
        nbformat.validate(notebook)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, nbformat.ValidationError) as error:
        raise ConfigurationError(f"not a notebook: {one_line(str(error))}") from error
    return notebook


def with_ids(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook with an id on every cell: its own, or `cell-01` for the first, and so on."""
    taken = {cell.get("id") for cell in notebook["cells"]}
    cells = []
    for number, cell in enumerate(notebook["cells"], 1):
        name, again = f"cell-{number:02}", 1
        while not cell.get("id") and name in taken:
            again += 1
            name = f"cell-{number:02}-{again}"
        cells.append(cell if cell.get("id") else cell | {"id": name})
    return notebook | {"cells": cells, "nbformat": 4, "nbformat_minor": 5}


def without_widgets(outputs: Iterable[Any]) -> Iterator[Any]:
    """The outputs without live views, which only a kernel can show; an output that was only a view is left out."""
    for output in outputs:
        if "data" in output:
            output.data.pop("application/vnd.jupyter.widget-view+json", None)
        if "data" not in output or output.data:
            yield output


def harmless(html: str) -> str:
    """The HTML of an output for a page with our policy, which does not stop two elements.

    <meta http-equiv=refresh> would lead the reader to another site, and <link rel=dns-prefetch> ask the network for a
    name.
    """
    return re.sub("<(?=meta|link)", "&lt;", html, flags=re.IGNORECASE)


def one_line(text: str) -> str:
    """The text without colours, line ends and the API key, at most 300 characters."""
    text = Secrets.of_environment(os.environ).scrub(re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text))
    return " ".join(text.split())[:300]


def cell_named(source: str) -> str:
    """Names the cell with this code by its first line: numbers shift where papermill inserts a cell."""
    lines = source.strip().splitlines() or [""]
    return f"the cell that begins {quoted(lines[0])}"


Item = TypeVar("Item")

KERNEL_NAME = "python3"


class Kernels:
    """Kernels that work side by side, at most two at once, and that end together.

    Args:
        limit: seconds that one notebook may take as a whole, from the start of its kernel.
        env: the environment of each kernel; None takes that of this process.

    Attributes:
        stopped: `stop` was called.
    """

    def __init__(self, *, limit: float, env: Mapping[str, str] | None = None) -> None:
        self.limit = limit
        self.env = env
        self.stopped = False
        self._pids: set[int] = set()
        self._lock = Lock()

    @contextmanager
    def kernel(self) -> Iterator[dict[str, Any]]:
        """The options with which nbclient runs one notebook; no process and no temporary file outlives the block."""
        until = time.monotonic() + self.limit
        # The kernel's own directory for temporary files. It holds the file with the kernel's ports and signing key,
        # and those of kernels that the notebook started itself and can no longer end.
        folder = ScratchFolder()
        scratch = Path(folder.name)
        started: list[int] = []
        try:
            yield {
                "kernel_name": KERNEL_NAME,
                "kernel_manager_class": self._manager_class(scratch, started),
                "timeout_func": lambda _cell: max(until - time.monotonic(), 0.1),
                "shutdown_kernel": "immediate",
            }
        finally:
            for pid in started:
                _kill(pid)
                self._pids.discard(pid)
            _remove(scratch)
            folder.cleanup()

    def _manager_class(self, scratch: Path, started: list[int]) -> type[Any]:
        """A kernel manager that starts this interpreter, and notes the process id in `started`.

        What the kernel's process itself prints is dropped: it is no output of the notebook, and may hold anything.
        """
        from ipykernel.kernelspec import get_kernel_dict  # heavy: only when a notebook runs
        from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
        from jupyter_client.manager import AsyncKernelManager

        kernels = self

        class ThisInterpreter(KernelSpecManager):
            def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
                return KernelSpec(name=kernel_name, **(get_kernel_dict() | {"argv": kernel_command()}))

        class Managed(AsyncKernelManager):
            def __init__(self, **options: Any) -> None:
                super().__init__(**options, kernel_spec_manager=ThisInterpreter())
                self.connection_file = str(scratch / f"kernel-{uuid4()}.json")
                # Free ports are looked for before the kernel takes them, and another program may be quicker. A socket
                # in the kernel's own directory is nobody else's; where its path is too long for one, ports it is.
                if hasattr(socket, "AF_UNIX") and len(self.connection_file) < 90:
                    self.transport = "ipc"

            async def start_kernel(self, **options: Any) -> None:  # type: ignore[override]  # its stubs forget async
                quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
                env = {**(os.environ if kernels.env is None else kernels.env), "TMPDIR": str(scratch)}
                env["WORKBOOK_UNATTENDED"] = "1"  # no learner: a copy's progress stays as it is
                await super().start_kernel(**quiet, env=env, **options)
                if pid := getattr(self.provisioner, "pid", None):
                    started.append(pid)
                    kernels.add(pid)

        return Managed

    def add(self, pid: int) -> None:
        """A kernel has started: `stop` ends it, and it ends at once where that was called."""
        with self._lock:
            self._pids.add(pid)
            if self.stopped:
                _kill(pid)

    def stop(self) -> None:
        """End every kernel, and every one that is about to start."""
        with self._lock:
            self.stopped = True
            for pid in self._pids:
                _kill(pid)

    def execute(self, notebook: Any, **options: Any) -> None:
        """Run the cells of a notebook in place.

        Args:
            notebook: of nbformat.
            options: of nbclient.

        Raises:
            Exception: whatever nbclient raises.
        """
        from nbclient import NotebookClient  # heavy

        with self.kernel() as kernel:
            client = NotebookClient(notebook, timeout=self.limit, **kernel, **options)
            try:
                client.execute()
            finally:
                # nbclient's own handler stays where a kernel never answered, and raises when the process ends
                atexit.unregister(client._cleanup_kernel)  # noqa: SLF001

    def each(self, work: Callable[[Item], Any], items: Sequence[Item], done: Callable[[Any], None]) -> None:
        """Call `work(item)` on threads, two at once, and `done(result)` on this thread as each ends.

        Raises:
            KeyboardInterrupt: Ctrl-C; every kernel has ended by then, and `done` got the results that there are.
        """
        jobs: set[Future[Any]] = set()
        with ThreadPoolExecutor(min(2, os.cpu_count() or 1), thread_name_prefix="notebook") as pool:
            try:
                jobs |= {pool.submit(_with_own_loop, work, item) for item in items}
                for job in as_completed(tuple(jobs)):
                    jobs.discard(job)
                    done(job.result())
            except BaseException:
                self.stop()
                pool.shutdown(cancel_futures=True)
                for job in jobs:
                    # an exception of a job whose kernel was killed is a consequence of the interrupt, so it is dropped
                    if not job.cancelled() and job.exception() is None:
                        done(job.result())
                raise


def _kill(pid: int) -> None:
    """End a kernel's process, which leads a group, and everything that it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL) if hasattr(os, "killpg") else os.kill(pid, signal.SIGTERM)


def _remove(scratch: Path) -> None:
    # A kernel that the notebook started itself notices within a second that its parent has ended, and writes there
    # until then: a directory that cannot be removed at the first try can be removed a moment later.
    until = time.monotonic() + 5.0  # seconds
    while scratch.exists() and time.monotonic() < until:
        shutil.rmtree(scratch, ignore_errors=True)
        time.sleep(0.1 if scratch.exists() else 0)


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
    from nbformat.v4 import new_code_cell, new_notebook  # heavy

    notebook = new_notebook(cells=[new_code_cell("1 + 1")])  # type: ignore[no-untyped-call]
    kernels = Kernels(limit=60.0, env=child_environment())
    with ScratchFolder() as empty:  # a kernel imports from its folder, and the current one may be a foreign one
        work = partial(kernels.execute, resources={"metadata": {"path": empty}})
        kernels.each(work, [notebook], lambda _: None)
    return str(notebook.cells[0].outputs[0].data["text/plain"])
