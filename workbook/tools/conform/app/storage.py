"""The folders of one case on platform B: what app and extension share, and a home for each of the two.

`Storage.swift` notes in each home where that program has written and looked: as the names of empty files.
"""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

from workbook.base.files import ScratchFolder

# The two programs that a case runs, and the variables that name the home of each.
APP, EXTENSION = "app", "extension"
HOMES = ("WORKBOOK_HOME_FOLDER", "HOME", "CFFIXED_USER_HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
         "XDG_DATA_HOME")  # fmt: skip
# What tells one place from another.
NAMES = ("group", "service", "account")
NOTHING_SAVED = "Nothing is saved where the extension can read: use a keychain group or an app group (X-CACHE-1)."


class CaseFolders:
    """They are there until `remove`."""

    def __init__(self) -> None:
        self._root = ScratchFolder()
        self.remove = self._root.cleanup
        self._saved = False  # before one of the processes started: the extension may delete it
        self.shared, *self._homes = (Path(self._root.name) / name for name in ("shared", APP, EXTENSION))
        for folder in (self.shared, *self._homes):
            folder.mkdir()

    def variables(self, program: str) -> Mapping[str, str]:
        """What tells a process of this program, which starts now, where to keep things."""
        self._saved |= bool(self._files())
        home = str(self.shared.with_name(program))
        return {"WORKBOOK_SHARED_FOLDER": str(self.shared), **dict.fromkeys(HOMES, home)}

    def cut_files(self) -> bool:
        """Take the second half from each shared file; returns whether there was one."""
        for path in (files := self._files()):
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        return bool(files)

    def text(self) -> str:
        """All that lies in the shared files."""
        return "\n".join(path.read_bytes().decode("latin-1") for path in self._files())

    def _files(self) -> list[Path]:
        return [path for path in self.shared.rglob("*") if path.is_file()]

    def mislaid(self) -> str:
        """Why the extension cannot find what the app has saved, in words; empty where it can, as far as is known."""
        app, extension = ({path.name for path in home.glob("places/*")} for home in self._homes)
        written, looked = _places(app, "wrote"), _places(extension, "read")
        for kind in sorted(written.keys() & looked.keys()):
            for number, name in enumerate(NAMES[: len(looked[kind][0])]):
                here, there = ({names[number] for names in places[kind]} for places in (looked, written))
                # a query that names none finds all, but without a group an item is its program's own
                if not any(read in ("", wrote) and (wrote or name != "group") for read in here for wrote in there):
                    where = f"{name} {min(here) or 'of its own'}; the app wrote {min(there) or 'one of its own'}"
                    return f"Nothing lies where the extension reads ({where}): name the same {name} in both ({kind})."
        return "" if self._saved else NOTHING_SAVED


def _places(notes: set[str], what: str) -> dict[str, list[list[str]]]:
    """Of the notes of this kind: for each kind of storage the places, each as its names."""
    found: dict[str, list[list[str]]] = {}
    for note in sorted(notes):
        verb, kind, *names = map(unquote, note.split("|"))
        if verb == what:
            found.setdefault(kind, []).append(names)
    return found
