"""Fills Jinja2 templates, each of which lies beside its caller. Every value is escaped, unless `safe` marks it.

.html    autoescape; characters that XML cannot hold become U+FFFD
.xml     the same
.md      no value is markup, and each stays on one line
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path, PurePath

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from workbook.views.html import POLICY, join, unbroken
from workbook.views.paint import DARK, LIGHT, PHONE_DARK, PHONE_LIGHT, variables
from workbook.views.table import clean

# The page that all reports extend lies here. Other templates are named from the package: `tools/sweep/sweep.html`.
TEMPLATES = Path(__file__).parent
PACKAGE = TEMPLATES.parents[1]
# The colours of a page, light and dark, as in every picture of the workbook.
COLOURS: tuple[Mapping[str, str], Mapping[str, str]] = (
    {**LIGHT, "good": PHONE_LIGHT["good"]},
    {**DARK, "good": PHONE_DARK["good"]},
)
# What would be markup within a line of Markdown, GitHub's included, without a backslash before it.
MARKDOWN = re.compile(
    r"""
      [\\`*|~$]                               # anywhere
    | (?<![A-Za-z0-9])_ | _(?![A-Za-z0-9])      # within a word it is no emphasis
    | <(?=[A-Za-z/!?])                          # a tag, or an address
    | \](?=[(\[] | \Z)  | \[(?=\^)             # the end of a link's text, a footnote
    | &(?=\#?\w+;) | @(?=\w) | \#(?=\d | \#*\Z) # an entity, a person, an issue; the end of a heading
    | (?<![\w.]):(?=[\w+-]+:)                 # an emoji
    | :(?=//(?!(?:127\.0\.0\.1|localhost)\b))   # an address that becomes a link; not one of this machine
    """,
    re.VERBOSE,
)
# Characters of one command line or paragraph in Markdown.
LONGEST_PARAGRAPH = 2000


def fill(template: str, /, **values: object) -> str:
    """The text of a template with these values. It is named by its path from the package: `tools/sweep/sweep.md`."""
    return environment(PurePath(template).suffix).get_template(template).render(values)


def page(template: str, /, **values: object) -> str:
    """The web page of a template that extends `page.html`; the page loads nothing and runs nothing."""
    return fill(template, **page_values(), **values)


def page_values() -> dict[str, object]:
    """What `page.html` itself needs: its policy, and its colours in light and dark."""
    light, dark = (Markup(variables(colours)) for colours in COLOURS)  # noqa: S704  # our own colours
    return {"policy": POLICY, "light": light, "dark": dark}


def escape_markdown(value: object, longest: int = 240) -> Markup:
    """A value as Markdown, on one line: nothing in it is markup, unless it begins a line."""
    return Markup(MARKDOWN.sub(r"\\\g<0>", clean(value, longest)))  # noqa: S704  # every mark is escaped


def paragraph(value: object) -> Markup:
    """Several sentences as Markdown, on one line."""
    return escape_markdown(value, LONGEST_PARAGRAPH)


def code(value: object) -> Markup:
    """A value as Markdown code: between more backticks than it has in a row."""
    line = clean(value, LONGEST_PARAGRAPH)
    fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    return Markup(f"{fence} {line} {fence}" if "`" in line else f"{fence}{line or ' '}{fence}")  # noqa: S704  # nothing is markup in code


def sentence(text: str) -> Markup:
    """A sentence of ours on a web page: its code and emphasis are so, and its rules explain themselves."""
    return Markup(unbroken(text))  # noqa: S704  # it is escaped


def _html(value: object) -> Markup:
    """Escaped as `html.escape` does it, which the scan for secrets knows."""
    return value if isinstance(value, Markup) else Markup(join(str(value)))  # noqa: S704


@cache
def environment(suffix: str) -> Environment:
    """How templates of one kind of file are filled: `finalize` escapes every value, in HTML and XML autoescape, too."""
    finalize: Mapping[str, Callable[[object], object]] = {
        ".html": _html,
        ".xml": _html,
        ".md": lambda value: value if isinstance(value, Markup | int) else escape_markdown(value),
    }
    environment = Environment(
        loader=FileSystemLoader([TEMPLATES, PACKAGE]),
        autoescape=select_autoescape(("html", "xml"), default_for_string=True),
        finalize=finalize[suffix],
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"code": code, "paragraph": paragraph, "sentence": sentence}
    return environment
