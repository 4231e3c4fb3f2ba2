"""The configuration of a run: read from `back-end.toml` and checked.

A form says which tables and keys there are and what each may hold. The reader then checks what a form cannot know:
files, environment variables, and whether several values fit together. Both report every mistake at once, and never
repeat a value that may be a secret. `as_toml` writes the configuration as it was read, with the defaults.
"""

import os
import re
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import tomli_w
from jsonpointer import JsonPointer, JsonPointerException
from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, model_validator

from workbook.api.protocol import encode_id
from workbook.base import forms
from workbook.base.values import HIGHEST_PORT, did_you_mean, quoted
from workbook.errors import ConfigurationError
from workbook.play.own_code import BACK_END_WAIT
from workbook.tools.conform.back_end import model
from workbook.tools.conform.back_end.model import BOUND, RAW, Cardholder, Surface, Target
from workbook.tools.conform.back_end.phone import trusting_context
from workbook.tools.harness.model import Known
from workbook.tools.harness.origin import wrong_origin
from workbook.tools.harness.report import is_weak

CONFIG_EXAMPLE = "`workbook conform init` prints an example."
NO_VALUE = (
    'a secret does not belong in this file. Write { env = "NAME" }, and set that variable where the workbook runs.'
)

# The values of single keys.


def _url(url: str) -> str:
    if why := wrong_origin(url):
        raise forms.refusal(f"it {why}. Allowed: http://host[:port][/prefix], or https.")
    return url


def _with_port(url: str, port: int) -> str:
    """The URL with this port in the place of port 0."""
    return re.sub(r"(?<=:)0(?=/|\Z)", str(port), url, count=1)


def _base_url(url: str) -> str:
    _url(_with_port(url, 1))
    return url


def _path(path: str) -> str:
    if not path.startswith("/") or path.startswith("//"):
        raise forms.refusal("a path begins with one slash; base_url has the host.")
    if re.search(r"[^!-~]|[\\#]", path) or len(path) > 1000:
        raise forms.refusal("a path is printable ASCII without blanks, # and \\, such as /cards/{id}/activation-data.")
    if foreign := re.search(r":[A-Za-z_]\w*|<[^<>/]*>|\$\{?\w+\}?|\*", path):  # a placeholder of a web framework
        raise forms.refusal(
            f"{quoted(foreign[0])} is no placeholder here. Write {{id}}, such as /cards/{{id}}/provision."
        )
    if odd := [part for part in re.findall(r"\{[^{}]*\}|[{}]", path) if part != "{id}"]:
        raise forms.refusal(f"{quoted(odd[0])} is not a placeholder. {did_you_mean(odd[0], ['{id}'])}")
    if any(part.lower().replace("%2e", ".") in (".", "..") for part in re.split("[/?]", path)):
        raise forms.refusal("a path has no dot segments.")
    return path


def _pointer(pointer: str) -> str:
    try:
        if not JsonPointer(pointer).parts:
            raise ValueError(pointer)
    except JsonPointerException as error:
        raise ValueError(pointer) from error
    return pointer


def overlap(place: str, other: str) -> bool:
    """Whether one of two places in a body is inside the other."""
    return RAW in (place, other) or f"{place}/".startswith(f"{other}/") or f"{other}/".startswith(f"{place}/")


def _header_name(name: str) -> str:
    # RFC 9110 allows a token. Headers that the HTTP library writes itself cannot be set, because two of one kind make a
    # request that each server reads in its own way.
    written = {"host", "content-length", "transfer-encoding", "connection"}
    if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}", name) or name.lower() in written:
        raise forms.refusal("it is not the name of a header that may be set.")
    return name


def is_header_value(text: str) -> bool:
    """Whether a header can carry this text: printable ASCII, not empty, no outer blanks."""
    return 0 < len(text) <= 1000 and text.isascii() and text.isprintable() and text == text.strip()


Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
BaseUrl = Annotated[str, AfterValidator(_base_url), forms.Says("an address in quotes", hidden=True)]
PathTemplate = Annotated[
    str, AfterValidator(_path), forms.Says("a path in quotes, such as /cards/{id}/activation-data")
]
Pointer = Annotated[str, AfterValidator(_pointer), forms.Says('a JSON pointer such as "/cardId"')]
ValuePlace = Annotated[
    str,
    AfterValidator(lambda value: value if value == RAW else _pointer(value)),
    forms.Says(f'a JSON pointer such as "/sdkInput", or "{RAW}"'),
]
CardId = Annotated[forms.Text, AfterValidator(lambda card: encode_id(card) and card)]
Variable = Annotated[
    str,
    Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}\z"),
    forms.Says('the name of an environment variable, such as "API_URL"', hidden=True),
]
Prefix = Annotated[
    str,
    Field(pattern=r"^([ -~]{0,20}|[A-Za-z0-9_.-]{1,60}=)\z"),
    forms.Says(
        'what comes before the value, such as "Bearer " or "sid=": at most 20 characters, or a cookie\'s name and =',
        hidden=True,
    ),
]
HeaderName = Annotated[str, AfterValidator(_header_name)]
Seconds = Annotated[float, Field(ge=0.1, le=3600, allow_inf_nan=False), forms.Says("seconds from 0.1 to 3600")]


# It is never written out, because a secret may stand in it.
CommandLine = Annotated[str, Field(pattern=r"\S", exclude=True), forms.Says("a command line in quotes", hidden=True)]


class SecretForm(forms.Form):
    """A value from the environment."""

    env: Variable
    prefix: Prefix = ""

    @model_validator(mode="before")
    @classmethod
    def _is_no_text(cls, value: object) -> object:
        if isinstance(value, str):
            raise forms.refusal(NO_VALUE)
        return value


class SessionForm(SecretForm):
    """A value from the environment, or the line that a command prints once the back end listens."""

    env: Variable = ""
    command: CommandLine = ""

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        if bool(self.env) is bool(self.command):
            raise forms.refusal('give either env = "NAME" or command = "...".')
        return self


def _header_value(value: object) -> str | SecretForm:
    if isinstance(value, dict):
        return SecretForm.model_validate(value)
    if not isinstance(value, str) or not is_header_value(value):
        raise forms.refusal('give printable text, or { env = "NAME" }.')
    return value


HeaderValues = dict[HeaderName, Annotated[str | SecretForm, PlainValidator(_header_value)]]

# The tables. Every key has a default that means "not given", so a table with one wrong key can be read without it, and
# the rest is checked in the same pass: an author with five mistakes hears of all five.


class GetForm(forms.Form):
    """`[get]`: the call that hands out the GET's sdkInput."""

    method: Method = "GET"
    path: PathTemplate = ""
    id: Pointer = ""
    sdk_input: ValuePlace = ""


class PostForm(GetForm):
    """`[post]`: the call that takes the sdkOutput."""

    sdk_output: ValuePlace = ""


class PlatformForm(forms.Form):
    """What is different for a platform's app."""

    get: GetForm = GetForm()
    post: PostForm = PostForm()
    headers: HeaderValues = Field(default_factory=dict)


class PlatformAForm(PlatformForm):
    """`[platform_a]`."""

    encoding: Literal["text"] = "text"


class PlatformBForm(PlatformForm):
    """`[platform_b]`."""

    encoding: Literal["base64", "bytes"] = "base64"


class CardForm(forms.Form):
    """A card whose payment instrument has another id, or that has a session of its own."""

    id: CardId
    instrument: CardId = ""
    session: dict[HeaderName, SessionForm] = Field(default_factory=dict)


Card = Annotated[CardForm, BeforeValidator(lambda card: {"id": card} if isinstance(card, str) else card)]


def _each_card_once(cards: list[CardForm]) -> list[CardForm]:
    forms.distinct([card.id for card in cards])
    forms.distinct([card.instrument or card.id for card in cards])
    return cards


class CardholderForm(forms.Form):
    """`[[cardholder]]`."""

    name: forms.Text = ""
    cards: Annotated[
        list[Card],
        Field(min_length=1),
        AfterValidator(_each_card_once),
        forms.Says('a list of payment instrument ids, each once, or of { id = "c1", instrument = "PI1" }', hidden=True),
    ] = Field(default_factory=list)
    session: dict[HeaderName, SessionForm] = Field(default_factory=dict)


class RunTimeouts(forms.Form):
    """`[timeouts]`: how long the workbook waits, in seconds.

    Attributes:
        answer: for an answer of the back end.
        recovery: after an API fault, until the back end must work again.
        pace: at least so long between two calls.
        first_call: for the first request at the mock API, where a person sets the values.
        start: until the back end listens, where a command starts it.
        whole: for all cases together.
    """

    answer: Annotated[
        float,
        Field(ge=0.1, le=BOUND, allow_inf_nan=False),
        forms.Says(f"seconds from 0.1 to {BOUND:g}, because the wallet waits {BOUND:g} s (X-ENTRIES-3)"),
    ] = BOUND
    recovery: Annotated[float, Field(ge=0, le=120, allow_inf_nan=False), forms.Says("seconds from 0 to 120")] = (
        model.RECOVERY
    )
    pace: Annotated[float, Field(ge=0, le=60, allow_inf_nan=False), forms.Says("seconds from 0 to 60")] = 0.0
    first_call: Seconds = 120.0
    start: Seconds = 30.0
    whole: Seconds = 900.0


class Api(forms.Form):
    """`[api]`: the mock API that the back end calls.

    Attributes:
        port: where it listens; 0 takes any free one.
        profile: `spec`, or `field` with what is publicly known besides.
        seed: of all values that it makes up.
        key: where the API key is that the back end gets; None makes a fresh one.
        tls: it has a certificate, and at times one that a client must refuse.
    """

    port: Annotated[
        int, Field(ge=0, le=HIGHEST_PORT), forms.Says(f"a port from 0 to {HIGHEST_PORT}; 0 takes any free one")
    ] = 0
    profile: Literal["spec", "field"] = "spec"
    seed: forms.Seed = 7
    key: SecretForm | None = None
    tls: forms.Flag = False


class Exports(forms.Form):
    """`[export]`: the names of the environment variables that the back end gets.

    Attributes:
        url: the API's address.
        key: the API's key.
        ca: the file of the API's authority; only with TLS.
        port: where a start command has to listen; only where base_url has port 0.
    """

    url: Variable = "API_URL"
    key: Variable = "API_KEY"
    ca: Variable = "API_CA_FILE"
    port: Variable = "PORT"

    def values(self, url: str, key: str, ca_file: Path | None = None) -> dict[str, str]:
        """The exported values by their names; there is an authority only with TLS."""
        return {self.url: url, self.key: key} | ({self.ca: str(ca_file)} if ca_file else {})


class BackEndStart(forms.Form):
    """`[start]`: how the back end gets the exported values; without a command, a person sets them.

    Attributes:
        command: a shell command that starts it, with the values in its environment; empty for none.
        folder: where the command runs, from the file's own folder.
    """

    command: CommandLine = ""
    folder: forms.Text = "."


class AppForm(forms.Form):
    """`[app]`: what the app expects of the back end.

    Attributes:
        contract: `lesson` for the answers of lesson 01, which are then judged; `own` for others.
        wait: seconds after which the app gives up a call.
    """

    contract: Literal["lesson", "own"] | None = None
    wait: Seconds = BACK_END_WAIT


class BackEndForm(forms.Form):
    """The whole file."""

    base_url: BaseUrl = ""
    platforms: Annotated[
        list[Literal["A", "B"]], Field(min_length=1), forms.Says('a list of "A", "B" or both', hidden=True)
    ] = Field(default=["A", "B"])
    ca_file: forms.Text = ""
    failures: Literal["status", "body"] = "status"
    logs: forms.Texts = Field(default_factory=list)
    get: GetForm = GetForm()
    post: PostForm = PostForm()
    platform_a: PlatformAForm = PlatformAForm()
    platform_b: PlatformBForm = PlatformBForm()
    headers: HeaderValues = Field(default_factory=dict)
    cardholder: list[CardholderForm] = Field(default_factory=list)
    timeouts: RunTimeouts = RunTimeouts()
    app: AppForm = AppForm()
    api: Api = Api()
    export: Exports = Exports()
    start: BackEndStart = BackEndStart()


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration of a run. Everything but the target has a default: `Config(target)`.

    Attributes:
        target: the back end.
        form: the file as it was read.
        key: the API key that the back end gets; None makes a fresh one.
        file: the path of the file as it was given; empty where there is none.
        folder: of the file; the current one where there is no file.
        port: the free port that was chosen for port 0 of base_url; 0 where none was.
    """

    target: Target
    form: BackEndForm = field(default_factory=BackEndForm, repr=False)
    key: str | None = field(default=None, repr=False)
    file: str = ""
    folder: Path = Path()
    port: int = 0

    @property
    def instruments(self) -> tuple[str, ...]:
        """The payment instruments of all cardholders' cards."""
        return tuple(self.target.instrument(card) for owner in self.target.cardholders for card in owner.cards)

    @property
    def start_folder(self) -> Path:
        """Where the start command runs."""
        return self.folder / self.form.start.folder


def load_config(path: Path, environ: Mapping[str, str] = os.environ) -> Config:
    """Read the configuration in this file.

    Args:
        path: of the file.
        environ: holds the secrets that the file names.

    Raises:
        BadConfigurationError: it has mistakes; holds every one, each with its label.
    """
    return parse_config(forms.read_toml(path, CONFIG_EXAMPLE), path, environ)


def parse_config(document: Mapping[str, Any], path: Path, environ: Mapping[str, str]) -> Config:
    """Read the configuration in a document that came from `path`.

    Raises:
        BadConfigurationError: it has mistakes.
    """
    mistakes = forms.Mistakes()
    reader = _Reader(forms.read_form(BackEndForm, document, mistakes), path.parent, environ, mistakes)
    config = reader.config(str(path))
    mistakes.raise_for(path.name)
    return config


@dataclass(frozen=True)
class _Reader:
    """One reading of the file: makes a `Config` of what is right, and notes what is wrong.

    Attributes:
        form: what the file says, without the values that the form refused.
        folder: the file's; its paths are relative to it.
        environ: holds the secrets.
        mistakes: what is wrong so far.
    """

    form: BackEndForm
    folder: Path
    environ: Mapping[str, str]
    mistakes: forms.Mistakes

    def config(self, file: str) -> Config:
        form = self.form
        if not form.base_url:
            self.mistakes.add(("base_url",), "it is missing. Give the address of your back end.")
        logs, ca_file = self._files()
        port = self._free_port()
        target = Target(
            _with_port(form.base_url, port).rstrip("/"),
            self._surfaces(),
            self._cardholders(),
            form.timeouts.answer,
            logs,
            ca_file=ca_file,
            recovery=form.timeouts.recovery,
            failures=form.failures,
            instruments={
                card.id: card.instrument for table in form.cardholder for card in table.cards if card.instrument
            },
            api_tls=form.api.tls,
            pace=form.timeouts.pace,
            contract=form.app.contract,
            app_wait=form.app.wait,
        )
        return Config(target, form, self._api_side(), file, self.folder.absolute(), port)

    def _free_port(self) -> int:
        """A free port where base_url has port 0, which only a start command can be told; else 0."""
        if _with_port(self.form.base_url, 1) == self.form.base_url:
            return 0
        if not self.form.start.command:
            what = "port 0 takes any free port, which only a command can be told. Give the port, or [start] command."
            self.mistakes.add(("base_url",), what)
        with socket.create_server(("127.0.0.1", 0)) as free:
            return int(free.getsockname()[1])

    def _surfaces(self) -> dict[str, Surface]:
        """What the back end offers each platform's app."""
        form = self.form
        surfaces = {}
        for letter, key, own in (("A", "platform_a", form.platform_a), ("B", "platform_b", form.platform_b)):
            if letter in form.platforms:
                surfaces[f"platform {letter}"] = self._surface(key, own)
            elif key in form.model_fields_set:
                self.mistakes.add((key, ""), f'it is there, but platforms does not name "{letter}".')
        return surfaces

    def _surface(self, key: str, own: PlatformAForm | PlatformBForm) -> Surface:
        form = self.form
        decoded = own.encoding == "bytes"
        get = self._operation("get", "GET", form.get, own.get, key)
        post = self._operation("post", "POST", form.post, own.post, key)
        if not post.sdk_output:
            what = 'it is missing. Give a JSON pointer such as "/sdkOutput", or "raw".'
            self._missing(key, "post", "sdk_output", what)
        elif post.id and post.sdk_output == RAW:
            self.mistakes.add(("post", "id"), "the whole body is the sdkOutput. Write {id} in the path instead.")
        elif post.id and overlap(post.id, post.sdk_output):
            self.mistakes.add(("post", "id"), "it overlaps with sdk_output. Give each its own place.")
        if decoded and {get.sdk_input, post.sdk_input, post.sdk_output} != {RAW}:
            what = f'JSON cannot hold bytes. Give "raw" for sdk_input and sdk_output, in [{key}.get] and [{key}.post].'
            self.mistakes.add((key, "encoding"), what)
        headers = dict(self._headers(("headers",), form.headers)) | dict(self._headers((key, "headers"), own.headers))
        return Surface(get, post, decoded, tuple(headers.items()))

    def _operation(
        self, name: str, method: str, common: GetForm, own: GetForm, platform: str
    ) -> model.BackEndOperation:
        """An operation from the common table and what is different on this platform."""
        # What the platform's own table leaves out comes from the common one. `exclude_unset` tells a key that is absent
        # from one that repeats its default.
        given = {"method": method, "path": ""} | common.model_dump(exclude_unset=True)
        if "{id}" in own.path:
            given.pop("id", None)  # the common table's: it goes with the common path, which this one replaces
        operation = model.BackEndOperation(**given | own.model_dump(exclude_unset=True))
        if re.search(r"/\d+(/|\Z)", f"{operation.id}{operation.sdk_output}"):
            what = "a list is in its body. Put a small server in front of your back end that builds this body."
            self._missing(platform, name, "id", what)
        in_path = "{id}" in operation.path
        in_body = operation.id is not None
        if not operation.path:
            self._missing(platform, name, "path", "it is missing. Give the path below base_url.")
        elif in_path and in_body:
            self.mistakes.add((name, ""), "the instrument's id is in the path and in the body. Choose one.")
        elif not in_path and not in_body and not self.mistakes.within(name, "id"):
            what = "it has no place for the instrument's id. Write {id} in the path, or give id a JSON pointer."
            self._missing(platform, name, "path", what)
        return operation

    def _missing(self, platform: str, operation: str, key: str, what: str) -> None:
        """Report that an operation lacks a key, unless its platform's table has a wrong value for it."""
        if not self.mistakes.within(platform, operation, key) and not self.mistakes.covers(platform, operation):
            self.mistakes.add((operation, key), what)

    def _secret(self, place: forms.Place, secret: SecretForm) -> str | None:
        """A secret from the environment, or one to come; None, and a mistake, where there is none."""
        if isinstance(secret, SessionForm) and secret.command:
            return model.FromCommand(secret.prefix, secret.command)
        value = self.environ.get(secret.env)
        if not value:
            what = f"the environment variable {secret.env} is not set. Set it, and run again."
        elif not is_header_value(value):
            what = f"a header cannot carry the value of {secret.env}: it takes printable ASCII without outer blanks."
        elif is_weak(value):
            what = (
                f"the value of {secret.env} is a plain word or an address, which any report holds, "
                "so no report could hide it. Give another one, with letters and digits."
            )
        else:
            return model.FromEnvironment(f"{secret.prefix}{value}")
        self.mistakes.add((*place, "env"), what)
        return None

    def _headers(self, place: forms.Place, headers: Mapping[str, str | SecretForm]) -> Iterator[tuple[str, str]]:
        for name, value in headers.items():
            text = self._secret((*place, name), value) if isinstance(value, SecretForm) else value
            if isinstance(value, str) and (why := model.suspect_header(name, value)):
                self.mistakes.add((*place, name), f"{why}; {NO_VALUE}")
            if text is not None:
                yield name.lower(), text

    def _cardholders(self) -> tuple[Cardholder, ...]:
        """The cardholders, in the file's order."""
        tables = self.form.cardholder
        if not tables:
            self.mistakes.add(("cardholder",), "it is missing. Give a [[cardholder]] with cards.")
        # A card of two cardholders would make every case about isolation pass for the wrong reason, and a request of
        # the back end would belong to two cases at once.
        owners: dict[tuple[str, str], int] = {}
        cardholders = []
        for at, table in enumerate(tables):
            ids = [("cards", word) for card in table.cards for word in {card.id, card.instrument or card.id}]
            for key, value in [("name", table.name), *ids]:
                if value and owners.setdefault((key, value), at) != at:
                    what = f"{value!r:.60} is [[cardholder]] {owners[key, value] + 1}'s already. Give each its own."
                    self.mistakes.add(("cardholder", at, key), what)
            if not table.name:
                self.mistakes.add(("cardholder", at, "name"), "it is missing.")
            if not table.cards:
                what = "it is missing. Give the ids of this cardholder's cards."
                self.mistakes.add(("cardholder", at, "cards"), what)
            session = tuple(self._headers(("cardholder", at, "session"), table.session))
            own = {
                card.id: tuple(self._headers(("cardholder", at, "cards", number, "session"), card.session))
                for number, card in enumerate(table.cards)
                if card.session
            }
            cardholders.append(Cardholder(table.name, tuple(card.id for card in table.cards), session, own))
        return tuple(cardholders)

    def _api_side(self) -> str | None:
        """The API's key; and how the back end gets the API's address and key is checked."""
        given, names = self.form.api.key, self.form.export
        key = None if given is None else self._secret(("api", "key"), given)
        if key is not None and (len(key) < 16 or " " in key):
            # a shorter key could occur in ordinary text, and no case could say that it leaked
            self.mistakes.add(("api", "key", "env"), "a key has at least 16 characters and no blank.")
        if len({names.url, names.key, names.ca, names.port}) < 4:
            self.mistakes.add(("export", ""), "two values have the same name. Give each its own.")
        if not (folder := self.folder / self.form.start.folder).is_dir():
            self.mistakes.add(("start", "folder"), f"there is no folder {str(folder)!r:.100}.")
        return key

    def _files(self) -> tuple[tuple[Path, ...], Path | None]:
        """The log files, which the back end may create later, and the file of certificates to trust besides."""
        form = self.form
        logs = tuple(self.folder / name for name in self.form.logs)
        for path in logs:
            if (path.exists() and not path.is_file()) or not path.parent.is_dir():
                self.mistakes.add(("logs",), f"{str(path)!r:.100} is not a file in an existing folder.")
            elif path.exists() and not os.access(path, os.R_OK):
                what = f"{str(path)!r:.100} cannot be read. Let the workbook's user read it, or leave it out."
                self.mistakes.add(("logs",), what)
        if not form.ca_file:
            return logs, None
        ca_file = self.folder.absolute() / form.ca_file
        if form.base_url and not form.base_url.startswith("https:"):
            what = "base_url is without TLS. Let it begin with https://, or leave ca_file out."
            self.mistakes.add(("ca_file",), what)
        if ca_file.exists() and not ca_file.is_file():  # a pipe would block for ever
            self.mistakes.add(("ca_file",), f"{str(ca_file)!r:.100} is not a regular file.")
            return logs, None
        try:
            trusting_context(ca_file)
        except ConfigurationError as error:
            self.mistakes.add(("ca_file",), str(error).removeprefix("ca_file: "))
        return logs, ca_file


def as_toml(config: Config) -> str:
    """The configuration as it was read, with the defaults. It names the variables of secrets, and has no command."""
    given = config.form.model_dump(mode="json", exclude_unset=True, warnings=False)
    defaults = {"platforms", "failures", "timeouts", "app", "api", "export", "start"}
    whole = config.form.model_dump(mode="json", include=defaults, exclude_none=True)
    start = "[start] has a command, which is not shown" if config.form.start.command else "there is no [start] command"
    return f"# {config.file} is in order; {start}. With the defaults:\n\n{tomli_w.dumps(given | whole)}"


# The baseline: known failures.


class KnownForm(forms.Form):
    """`[[known]]` in a baseline."""

    case: Annotated[str, Field(pattern=r"\S"), forms.Says("the name of a case", hidden=True)]
    comment: Annotated[
        str, Field(pattern=r"\S"), forms.Says("a text that says why it fails, and what is done about it", hidden=True)
    ]
    expires: Annotated[date | None, forms.Says("a day without quotes, such as 2030-12-31", hidden=True)] = None


class BaselineForm(forms.Form):
    """A baseline."""

    known: list[KnownForm] = Field(default_factory=list)


def load_baseline(path: Path) -> tuple[Known, ...]:
    """Read the known failures in this file.

    Raises:
        BadConfigurationError: it has mistakes; holds every one, each with its label.
    """
    mistakes = forms.Mistakes()
    text = forms.read_toml(path, "A baseline has entries under [[known]], each with a case and a comment.")
    form = forms.read_form(BaselineForm, text, mistakes)
    cases = [entry.case for entry in form.known]
    for at, case in enumerate(cases):
        if case in cases[:at]:
            mistakes.add(("known", at, "case"), "an earlier entry has it already. Keep one.")
    mistakes.raise_for(path.name)
    return tuple(Known(entry.case, entry.comment, entry.expires) for entry in form.known)
