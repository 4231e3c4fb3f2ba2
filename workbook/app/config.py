"""`app.toml`: how the app under test is started, and the routes of the back end that it calls."""

from __future__ import annotations

from pathlib import Path

from workbook.app.server import SURFACE
from workbook.conformance.config_file import GetForm, PostForm, StartForm
from workbook.conformance.model import Operation, Surface
from workbook.forms import Form, Mistakes, Text, read_form, read_toml

EXAMPLE = """\
[start]
command = "./gradlew test --tests ConformTest"

[get]
path = "/cards/{id}/activation-data"

[post]
path = "/cards/{id}/provision"
sdk_output = "/sdkOutput"
"""


class AppForm(Form):
    """The whole file; what is left out is as the sample back ends have it."""

    name: Text = "your app"
    start: StartForm = StartForm()
    get: GetForm = GetForm()
    post: PostForm = PostForm()


def load(path: Path) -> tuple[AppForm, Surface]:
    """The file, and the routes in it.

    Raises:
        BadConfigurationError: it has mistakes; holds every one, each with its label.
    """
    mistakes = Mistakes()
    form = read_form(AppForm, read_toml(path, EXAMPLE), mistakes)
    surface = Surface(_operation("get", SURFACE.get, form.get, mistakes),
                      _operation("post", SURFACE.post, form.post, mistakes))  # fmt: skip
    mistakes.raise_for(path.name)
    return form, surface


def _operation(name: str, usual: Operation, given: GetForm, mistakes: Mistakes) -> Operation:
    fields = {key: getattr(usual, key) for key in ("method", "path", "id", "sdk_output", "sdk_input")}
    operation = Operation(**fields | given.model_dump(exclude_unset=True))
    if ("{id}" in operation.path) == bool(operation.id):
        what = "the instrument's id has one place: write {id} in the path, or give id a JSON pointer into the body."
        mistakes.add((name, ""), what)
    return operation
