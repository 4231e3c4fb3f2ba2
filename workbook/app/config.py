"""`app.toml`: how the app under test is started or compiled, and the routes of the back end that it calls."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from workbook.app.compiling import command, compiled, files_of
from workbook.app.server import SURFACE
from workbook.conformance.config_file import GetForm, PostForm, StartForm
from workbook.conformance.model import Operation, Surface
from workbook.flows.variants import A_FROM_0_4_0, variant_a
from workbook.forms import Form, Mistakes, Says, Text, Texts, read_form, read_toml

EXAMPLE = """\
name = "our app"

[start]
command = "./gradlew test --tests ConformTest"

[get]
path = "/cards/{id}/activation-data"

[post]
path = "/cards/{id}/provision"
sdk_output = "/sdkOutput"
"""


class KotlinForm(Form):
    """`[kotlin]`: the workbook compiles the app's core itself and starts it, with no build tool."""

    sources: Annotated[Texts, Field(min_length=1), Says("a list of files and folders, each once")]
    main: Annotated[Text, Says('the class with the main function, such as "sample.AdapterKt"')]
    variant: Text = A_FROM_0_4_0.name
    libraries: Texts = Field(default_factory=list)


class AppForm(Form):
    """The whole file; only an app's file has a name. Routes that are left out are those of the sample back ends."""

    name: Text
    start: StartForm = StartForm()
    kotlin: KotlinForm | None = None
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
    if form.kotlin is not None and form.start.command:
        mistakes.add(("kotlin", ""), "[start] has a command already. Keep one of the two.")
    mistakes.raise_for(path.name)
    return form, surface


def started_by(form: AppForm, folder: Path) -> str:
    """The command that starts the app, compiled before where `[kotlin]` says so; empty where a person starts it.

    Raises:
        ConfigurationError: the extra is not installed, a file is missing, or the code does not compile.
    """
    if (kotlin := form.kotlin) is None:
        return form.start.command
    libraries = [folder / name for name in kotlin.libraries]
    classes = compiled(files_of(kotlin.sources, folder), variant_a(kotlin.variant).name, libraries)
    return command(classes, kotlin.main, libraries=libraries)


def _operation(name: str, usual: Operation, given: GetForm, mistakes: Mistakes) -> Operation:
    fields = {key: getattr(usual, key) for key in ("method", "path", "id", "sdk_output", "sdk_input")}
    operation = Operation(**fields | given.model_dump(exclude_unset=True))
    if ("{id}" in operation.path) == bool(operation.id):
        what = "the instrument's id has one place: write {id} in the path, or give id a JSON pointer into the body."
        mistakes.add((name, ""), what)
    return operation
