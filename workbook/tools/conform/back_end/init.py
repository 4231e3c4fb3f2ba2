"""Writes a commented `back-end.toml` from answers, and tries the calls that they describe."""

import asyncio
import os
import tomllib
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from workbook.base.files import explain_failure, write_whole
from workbook.base.forms import Says, Text, mistake
from workbook.base.secrecy import Secrets
from workbook.errors import ConfigurationError, WorkbookError
from workbook.tools.conform.back_end import config
from workbook.tools.conform.back_end.api_side import MockApi
from workbook.tools.conform.back_end.case_runner import CaseRunner
from workbook.tools.conform.back_end.config import (
    CardIds,
    ExportName,
    Exports,
    Method,
    PathTemplate,
    Pointer,
    Url,
    ValuePlace,
    Variable,
)
from workbook.tools.conform.back_end.findings import FIRST_CALL, PLAIN_ATTEMPT, place_of, texts_of, why_not
from workbook.tools.conform.back_end.model import GET, POST, RAW, RelayGroup
from workbook.tools.conform.back_end.session import Launcher
from workbook.tools.harness.progress import RunProgress
from workbook.views.templates import fill

InitAnswers = dict[str, str]


# The questions of `workbook conform init`, as data. Each asks what the author of an app knows without looking it up, in
# the order of a call: where it goes, what it carries, who makes it. Whatever can be found by trying is corrected
# afterwards.


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question.

    Attributes:
        key: what the answer is kept under.
        asks: in words.
        usual: the answer for an empty line.
        kind: the annotated type of an answer.
        when: whether it is asked, from the answers so far.
        check: what is wrong with this answer, given the answers so far; empty where nothing is.
    """

    key: str
    asks: str
    usual: str
    kind: Any
    when: Callable[[InitAnswers], bool] = lambda _answers: True
    check: Callable[[InitAnswers, str], str] = lambda _answers, _answer: ""


def split_list(answer: str) -> list[str]:
    """An answer that names several things, with commas between."""
    return [word.strip() for word in answer.split(",") if word.strip()]


def _if(right: Callable[[str], object]) -> AfterValidator:
    """Accepts an answer for which `right` is true."""

    def checked(answer: str) -> str:
        if not right(answer):
            raise ValueError
        return answer

    return AfterValidator(checked)


def _are_logs(answer: str) -> bool:
    paths = [Path(name) for name in split_list(answer) if not mistake(Text, name)]
    ends_well = all(path.parent.is_dir() and (path.is_file() or not path.exists()) for path in paths)
    return ends_well and len(set(paths)) == len(split_list(answer))


CardList = Annotated[CardIds, BeforeValidator(split_list), Says("ids with commas between them, each once")]
CardsOrNone = Annotated[
    str,
    _if(lambda answer: not split_list(answer) or not mistake(CardIds, split_list(answer))),
    Says("ids with commas between them, each once, or an empty line"),
]
HeaderOrNone = Annotated[
    str,
    _if(lambda answer: answer == "none" or not mistake(config.HeaderName, answer)),
    Says("the name of a header, or none"),
]
Line = Annotated[str, _if(str.isprintable), Says("a line of text")]
CookieName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,60}\z"), Says("the name of a cookie, such as sid")]
LogList = Annotated[str, _if(_are_logs), Says("files in existing folders, each once, with commas between them")]


def _instruments_fit(got: InitAnswers, answer: str, cards_of: str = "cards") -> str:
    ids, cards = split_list(answer), split_list(got[cards_of])
    return "" if not ids or len(ids) == len(cards) else f"there are {len(cards)} cards; give as many instruments."


def _is_cookie(got: InitAnswers) -> bool:
    return got["header"].lower() == "cookie"


def _new_cards(got: InitAnswers, answer: str) -> str:
    taken = {*split_list(got["cards"]), *split_list(got["instruments"])} & set(split_list(answer))
    return f"{min(taken)!r:.60} is the first cardholder's already." if taken else ""


QUESTIONS = (
    Prompt("base_url", "Where does your back end listen?", "http://127.0.0.1:8080", Url),
    Prompt("platforms", "Which platforms do your apps run on: A, B or both?", "both", Literal["A", "B", "both"]),
    Prompt("get_method", "Method of the call that gives the app the GET's sdkInput?", "GET", Method),
    Prompt("get_path", "Its path, with {id} for the card's id, which may be in a query (/wallet?card={id})?",
             "/cards/{id}/activation-data", PathTemplate),
    Prompt("get_id", "Where in its body is the card's id (a JSON pointer)?", "/cardId", Pointer,
             lambda got: "{id}" not in got["get_path"]),
    Prompt("get_sdk_input", 'Where in its answer is the sdkInput (a JSON pointer, or "raw")?', "/sdkInput",
             ValuePlace),
    Prompt("post_method", "Method of the call that takes the sdkOutput?", "POST", Method),
    Prompt("post_path", "Its path, with {id} where path or query hold the card's id?",
             "/cards/{id}/provision", PathTemplate),
    Prompt("post_id", "Where in its body is the card's id (a JSON pointer)?", "/cardId", Pointer,
             lambda got: "{id}" not in got["post_path"]),
    Prompt("sdk_output", 'Where in its body is the sdkOutput (a JSON pointer, or "raw")?', "/sdkOutput",
             ValuePlace,
             check=lambda got, answer: "the id is in the body too. Give each a place of its own."
             if "{id}" not in got["post_path"] and config.overlap(answer, got["post_id"]) else ""),
    Prompt("post_sdk_input", 'Where in its answer is the sdkInput (a JSON pointer, or "raw")?', "/sdkInput",
             ValuePlace),
    Prompt("encoding", "On platform B, does the app get the API's base64 text or the bytes (base64 or bytes)?",
             "base64", Literal["base64", "bytes"],
             lambda got: got["platforms"] != "A" and {got["get_sdk_input"], got["post_sdk_input"], got["sdk_output"]}
             == {"raw"}),
    Prompt("cards", "Ids of a test cardholder's cards, as your app sends them, with commas between (six are best)?",
             ", ".join(f"PIEXAMPLE{number:016d}" for number in range(1, 7)), CardList),
    Prompt("instruments", "Their payment instrument ids at the API, in the same order (empty: the same ids)?", "",
             CardsOrNone, check=_instruments_fit),
    Prompt("other_cards", "Ids of another cardholder's cards, to test that neither reaches the other's (empty: none)?",
             "", CardsOrNone, check=_new_cards),
    Prompt("other_instruments", "And their payment instrument ids, in the same order (empty: the same ids)?", "",
             CardsOrNone, lambda got: bool(got["instruments"] and got["other_cards"]),
             lambda got, answer: _instruments_fit(got, answer, "other_cards") or _new_cards(got, answer)),
    Prompt("header", "Which header presents the cardholder's session (none for no session)?", "authorization",
             HeaderOrNone),
    Prompt("cookie", "What is that cookie called?", "sid", CookieName, _is_cookie),
    Prompt("prefix", "Which word comes before it, such as Bearer (none for no word)?", "Bearer", config.Prefix,
             lambda got: got["header"] != "none" and not _is_cookie(got)),
    Prompt("variable", "Which environment variable will hold the session, without that word or name?",
             "CARDHOLDER_SESSION", Variable, lambda got: got["header"] != "none"),
    Prompt("other_variable", "And that of the other cardholder?", "OTHER_SESSION", Variable,
             lambda got: got["header"] != "none" and bool(got["other_cards"])),
    Prompt("url_name", "Under which name does your back end read the API's address, which ends before /bcl/v2?",
             "API_URL", ExportName),
    Prompt("key_name", "And the API's key?", "API_KEY", ExportName,
             check=lambda got, answer: "the address has that name already."
             if answer in (got["url_name"], Exports().ca) else ""),
    Prompt("tls", "Let the API have a certificate, to test whether your back end verifies it (yes or no)? Your back "
             "end then has to trust an authority made for the run.", "no", Literal["yes", "no"]),
    Prompt("ca_name", "Under which name does your back end read the file of that authority?", Exports().ca, ExportName,
             lambda got: got["tls"] == "yes",
             lambda got, answer: "the address or the key has that name already."
             if answer in (got["url_name"], got["key_name"]) else ""),
    Prompt("command", "A command that starts your back end (empty: you start it yourself)?", "", Line),
    Prompt("logs", "Log files that it writes, with commas between (empty: what its command prints is enough)?", "",
             LogList),
)  # fmt: skip


def usual() -> InitAnswers:
    """The usual answer to every question."""
    return {question.key: question.usual for question in QUESTIONS}


def asked(ask: Callable[[str], str], tell: Callable[[str], object]) -> InitAnswers:
    """Ask a person; explain a wrong answer, and ask again.

    Args:
        ask: shows a prompt and returns the answer.
        tell: shows a line.
    """
    answers = usual()
    for question in QUESTIONS:
        if not question.when(answers):
            continue
        prompt = f"{question.asks} [{question.usual}] " if question.usual else f"{question.asks} "
        answer = ask(prompt).strip() or question.usual
        while wrong := mistake(question.kind, answer) or question.check(answers, answer):
            tell(f"  {wrong}")
            answer = ask(prompt).strip() or question.usual
        answers[question.key] = answer
    return answers


def text(answers: InitAnswers) -> str:
    """The file that these answers make."""
    lists = {
        key: split_list(answers[key]) for key in ("cards", "instruments", "other_cards", "other_instruments", "logs")
    }
    word = answers["prefix"]
    before = "" if word == "none" else word if word.endswith("=") else f"{word} "
    prefix = f"{answers['cookie']}=" if _is_cookie(answers) else before
    return fill("back-end.toml", **answers | lists | {"groups": list(RelayGroup), "prefix": prefix})


def write_config(path: Path, text: str, *, over: bool = False) -> None:
    """Write the file; `over` replaces an existing one.

    Raises:
        ConfigurationError: the file exists already, or it cannot be written.
    """
    free(path, over=over)
    with explain_failure(f"Cannot write {str(path)!r}"):
        write_whole(path, text)


def free(path: Path, *, over: bool = False) -> None:
    """Refuse to overwrite an existing file, unless `over` allows it.

    Raises:
        ConfigurationError: the file exists already, or there is no folder for it.
    """
    if path.is_dir() or not path.parent.is_dir():
        raise ConfigurationError(f"{str(path)!r} is not a file in an existing folder.")
    if path.exists() and not over:
        raise ConfigurationError(f"{str(path)!r} exists already. Give --force to overwrite it, or name another file.")


# One attempt with what the answers say, before the file is written: most first runs fail because of a wrong path, a
# session that does not hold, or a value elsewhere in the body, and all three show at once.


def likely_place(body: bytes) -> str | None:
    """Where in an answer the sdkInput probably is, by its name or its length: a JSON pointer; None where none is."""
    found = texts_of(body)
    named = [place for place in found if place.rpartition("/")[2].replace("_", "").lower() == "sdkinput"]
    long = [place for place, text in found.items() if len(text) >= 40]  # characters; opaque data has more
    return next((places[0] for places in (named, long) if len(places) == 1), None)


def unset(answers: InitAnswers, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the sessions' environment variables that are not set or are empty."""
    names = [answers["variable"], *([answers["other_variable"]] if answers["other_cards"] else [])]
    return tuple(name for name in dict.fromkeys(names) if answers["header"] != "none" and not environ.get(name))


def tried(answers: InitAnswers, file: Path, environ: Mapping[str, str] = os.environ) -> tuple[InitAnswers, list[str]]:
    """Make the calls that the answers describe, and correct the values' places.

    With a command, the back end runs between phone and mock API, and both calls are made. Without one only the
    GET is made, because whatever API the back end then asks is not the workbook's.

    Returns:
        The answers, and what was found, a sentence each.
    """
    if missing := unset(answers, environ):
        names = f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'}"
        return answers, [f"Nothing was tried, because {names} not set. The run needs the value too."]
    lines: list[str] = []
    try:
        read = config.parse_config(tomllib.loads(text(answers)), file, environ)
        with ExitStack() as stack:
            api = stack.enter_context(MockApi(read.instruments, tls=read.api.tls))
            clean = Secrets.of_keys({api.key, *read.target.session_secrets()}).scrub
            launcher = Launcher(read, api, RunProgress(), stack, clean, known=not read.start.command)
            answers = asyncio.run(_tried(answers, launcher, api, lines))
    except WorkbookError as error:
        lines.append(str(error))
    return answers, lines


async def _tried(answers: InitAnswers, launcher: Launcher, api: MockApi, lines: list[str]) -> InitAnswers:
    target = launcher.target
    runner, ann = CaseRunner(target, api), target.cardholders[0].cards[:1]
    platform, base_url = next(iter(target.surfaces)), target.base_url
    if not answers["command"] and not await runner.is_there():
        lines.append(f"No program listens at {base_url}, so nothing was tried.")
        return answers
    await launcher.ready(runner)
    for key, operation, case in (("get", GET, FIRST_CALL), ("post", POST, PLAIN_ATTEMPT)):
        if operation == POST and not answers["command"]:
            continue
        # A POST whose sdkOutput is elsewhere is refused before the API is asked, so the next place can be tried at no
        # risk.
        usual_places = ("/sdkOutput", "/sdk_output", "/data/sdkOutput", "/output", RAW) if operation == POST else ()
        tries = []
        for place in dict.fromkeys((answers["sdk_output"], *usual_places)):
            surface = target.surfaces[platform]
            post = replace(surface.post, sdk_output=place)
            runner.target = replace(target, surfaces={**target.surfaces, platform: replace(surface, post=post)})
            seen = await runner.run(case, ann, platform)
            call = seen.asked(operation)[-1]
            tries.append((place, seen, call))
            if call.reported_success:
                break
        if not call.reported_success:  # what the configured call shows is what the author can mend
            place, seen, call = tries[0]
        given = {arrived.given for arrived in seen.came(operation) if arrived.given}
        found = place_of(given, call.body) if given else likely_place(call.body)
        if call.reported_success and found:
            where = "is the whole body" if found == RAW else f"is at {found}"
            lines.append(f"The {operation} works, and its sdkInput {where}.")
            if operation == POST and place != answers["sdk_output"]:
                lines.append(f"The sdkOutput belongs at {place}, not at {answers['sdk_output']}.")
            answers = answers | {f"{key}_sdk_input": found} | ({"sdk_output": place} if operation == POST else {})
        else:
            lines.append(f"The {operation} does not work: {' '.join(why_not(call, seen, base_url))}")
            if operation == POST and call.status in (400, 422) and not seen.arrived:
                places = ", ".join(place for place, _seen, _call in tries)
                lines.append(f"The sdkOutput was put at {places}: where does your back end look for it?")
            if api.ca_file and not seen.arrived:
                lines.append(f"The API has a certificate: does the back end trust the file {answers['ca_name']}?")
    return answers
