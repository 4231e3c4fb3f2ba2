"""The cases that read texts: what becomes an app, in whatever language, and a back end's settings.

An app's files are sources, resources and build files; comments do not count. A grammar is not needed, so a file in
Java, Objective-C, TypeScript, JavaScript, Dart or C# is judged as one in Kotlin or Swift is.
"""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from workbook.flows.messages import LIMITS
from workbook.tools.harness.model import Miss
from workbook.tools.preflight.literals import read_plist
from workbook.tools.preflight.model import Facts, case, miss_at, misses_unread, unless
from workbook.tools.preflight.project import File, table

LOCAL = re.compile(
    r"^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|0\.0\.0\.0)|\.(local|localhost|lan)\Z|^[^.]*\Z"
)
SETTINGS = unless(lambda facts: facts.environment is not None, "No environment of a back end is named: --env FILE.")
KEY = unless(lambda facts: facts.keys, "The environment names no key: no name has API_KEY in it.")
ADDRESS = unless(lambda facts: facts.addresses, "The environment has no name with BASE_URL or API_URL.")
LIMIT = unless(
    lambda facts: facts.settings("TIMEOUT"), "The environment names no time limit: no name has TIMEOUT in it."
)


def _no_app(facts: Facts) -> str:
    if not facts.app_files:
        return "No source and no resource of an app was found: name the folder that has them."
    return next((f"{file.name} was not searched: {file.no_text}." for file in facts.app_files if file.no_text), "")


@case("text.readable", "form", "GAP-8")
def check_readable(facts: Facts) -> Iterator[Miss]:
    """Every build file, version catalog and source can be read."""
    yield from misses_unread(facts.unread)


def _first(facts: Facts, *words: bytes) -> Iterator[tuple[str, int]]:
    """Each file of an app that has one of these words, in small letters, and the first line with one."""
    pattern = b"|".join(map(re.escape, words))
    for file in facts.app_files if words else ():
        if file.mentions(*words):
            yield from ((file.name, line) for line, _match in [*file.matches(pattern)][:1])


def _api_traces(facts: Facts) -> Iterator[tuple[str, int]]:
    """The API's path in what becomes an app, or its host, where the environment names it."""
    hosts = {urlsplit(address.value).hostname or "" for address in facts.addresses}
    known = [host.encode() for host in hosts if host and not LOCAL.search(host)]
    return _first(facts, b"bcl/v2", b"networktokenactivationdata", *known)


@case("app.api-address", "secrecy", "API-13", unread=[_no_app])
def check_api_address(facts: Facts) -> Iterator[Miss]:
    """The app does not know the API."""
    todo = "Call your own back end: only it calls the API."
    for name, line in _api_traces(facts):
        yield miss_at(name, line, "no trace of the API in the app", "the API's address or path", todo)


@case("app.api-key", "secrecy", "REL-2", unread=[_no_app])
def check_api_key(facts: Facts) -> Iterator[Miss]:
    """The app has no API key.

    Neither has it the header for one, or a text that has a key's name or form. Many services have a key, and many
    gateways have a header of that name: without another trace of the API, and without a name of this flow, that is only
    noted.
    """
    expected = "no trace of the API in the app"
    todo = "Take the key out of the app, and replace it: whoever has the app has the key."
    keys = [key.value.lower().encode() for key in facts.keys if key.value in facts.secrets]
    is_sure = any(_api_traces(facts)) or any(_first(facts, *keys))
    seen = set()
    for name, line in _first(facts, b"x-api-key", *keys):
        seen.add((name, line))
        more = "" if is_sure else " If this is the header of your own gateway, ignore this note."
        observed = "the API's key, or the header for it"
        yield miss_at(name, line, expected, observed, f"{todo}{more}", noted=not is_sure)
    for file in facts.app_files:
        for line, named, of_flow in _keys_in(file) if file.mentions(b"key", b"secret", b"sk_") else ():
            if (file.name, line) not in seen:
                more = "" if of_flow or is_sure else " If it is the key of another service, ignore this note."
                observed = f"a key by the name of {named}" if named else "a text with the form of a secret key"
                noted = not (of_flow or is_sure)
                yield miss_at(file.name, line, expected, observed, f"{todo}{more}", noted=noted)


def _keys_in(file: File) -> Iterator[tuple[int, str, bool]]:
    """Each line with a key: its name, empty where only the form tells; and whether it is surely one of this flow."""
    named = rb"""((?:api[_.-]?key|client[_.-]?secret|secret[_.-]?key)\w{0,40})
        (?:[^\w$@]{1,12}(?:key|string|value|char|const)?){1,4}?
        (?<![\w$@./-])([A-Za-z0-9_+/=~-]{14,})(?![\w.(])"""
    flow = re.compile(r"issuer|wallet|provision|operator|card|bcl|x-api", re.IGNORECASE)
    # services whose keys are meant to be in an app, and the forms of such keys
    others = re.compile(
        r"google|maps?|geo|firebase|fcm|sentry|segment|amplitude|mixpanel|braze|adjust|appsflyer|bugsnag|datadog|relic"
        r"|onesignal|mapbox|algolia|intercom|launchdarkly|branch|rollbar|analytics|instabug|revenue|captcha|youtube"
        r"|public|current",
        re.IGNORECASE,
    )
    placeholder = re.compile(r"your|change.?me|xxx|example|placeholder|dummy", re.IGNORECASE)
    for line, match in file.matches(named, re.IGNORECASE | re.VERBOSE):
        name, value = _before(match, r"[\w.-]*\Z") + match[1].decode(), match[2].decode()
        is_key = re.search(r"\d", value) and re.search("[A-Za-z]", value) and not re.match("AIza|pk_", value)
        if is_key and not placeholder.search(value) and (flow.search(name) or not others.search(name)):
            yield line, name, bool(flow.search(name) or re.match("sk[_-]", value))
    for line, _match in file.matches(rb"[\"'>=\s]sk_(live|test)_\w{8,}"):
        yield line, "", True


def _before(match: re.Match[bytes], pattern: str) -> str:
    """What fits right before the match, of the 200 bytes there."""
    text = match.string[max(match.start() - 200, 0) : match.start()].decode("utf-8", "replace")
    found = re.search(pattern, text)
    return found[0] if found else ""


@case("app.cleartext", "secrecy", "APP-5", unread=[_no_app])
def check_clear_text(facts: Facts) -> Iterator[Miss]:
    """The app calls its back end by https alone."""
    expected = "https alone (assumed)"
    for file in facts.app_files:
        if re.search(r"(^|/)(debug|src/debug|src/dev|development)/", file.name.lower()):
            continue
        for line, host in _permitted(file):
            allow = "Where a development server needs clear text, allow it in the debug build, for its host alone."
            yield miss_at(file.name, line, expected, f"clear text to {host}", f"Use https. {allow}")
        for line, host in _addresses(file) if file.mentions(b"http://") else ():
            todo = "Write https: a session or card data in clear text is anybody's on the way."
            yield miss_at(file.name, line, expected, f"http://{host}", todo, harms=True)


def _permitted(file: File) -> Iterator[tuple[int, str]]:
    """The lines of a property list, a manifest or a network security configuration that permit clear text; the host."""
    if file.name.endswith(".plist"):
        security = table((read_plist(file.content) or {}).get("NSAppTransportSecurity"))
        hosts = ["every host"] if security.get("NSAllowsArbitraryLoads") is True else []
        for host, entry in table(security.get("NSExceptionDomains")).items():
            allowed = any("AllowsInsecureHTTPLoads" in key and value is True for key, value in table(entry).items())
            hosts += [host] if allowed and not LOCAL.search(host) else []
        yield from ((file.line("NSAppTransportSecurity"), host) for host in hosts)
    if file.name.endswith(".xml"):
        yield from ((line, "every host") for line, _match in file.matches(rb'usesCleartextTraffic\s*=\s*"true"'))
        blocks = (
            rb'<(base|domain)-config[^>]*cleartextTrafficPermitted\s*=\s*"true"[^>]*(?:/>|>(.{0,20000}?)</\1-config>)'
        )
        for line, match in file.matches(blocks, re.DOTALL | re.IGNORECASE):
            domains = re.findall(rb"<domain[^>]*>([^<]*)<", match[2] or b"")
            hosts = [domain.strip().decode("utf-8", "replace") for domain in domains]
            if match[1] == b"base" or not all(map(LOCAL.search, hosts)):
                yield line, ", ".join(hosts) or "every host"


def _addresses(file: File) -> Iterator[tuple[int, str]]:
    """The addresses of a back end in clear text: by the words before them, or by the name of the file."""
    words = r"base|api|end_?point|back_?end|server|gateway|host|origin|address|relay"
    of_back_end = re.search(r"back_?end|api|client|network|gateway|relay", file.path.stem, re.IGNORECASE)
    # names of XML's own things look like addresses
    name_before = re.compile(r"xmlns|doctype|schema|namespace", re.IGNORECASE)
    name = re.compile(r"(schemas?|www\.w3|ns|xml|java\.sun|www\.apache|purl)\b")
    for line, match in file.matches(rb"http://(?:[^\s/@\"'<]{1,80}@)?([\w.-]+)"):
        host, before = match[1].decode().lower(), _before(match, r"[^\n]*\Z")
        if name_before.search(before) or name.match(host) or LOCAL.search(host):
            continue
        if of_back_end or re.search(words, before, re.IGNORECASE):
            yield line, host


# A back end's settings.


@case("environment.base-url", "form", "API-1", SETTINGS, ADDRESS)
def check_base_urls(facts: Facts) -> Iterator[Miss]:
    """The API's address is an https address without the path of a call.

    With `/bcl/v2` at its end it is what the official clients take.
    """
    expected = "an https address, at most with /bcl/v2 at its end"
    todo = "Set the scheme and the host, and /bcl/v2 behind them if your client takes it: the rest is each call's own."
    for name, value, line in facts.addresses:
        parts = urlsplit(value)
        is_local = parts.hostname in {"localhost", "127.0.0.1", "::1"}
        if not parts.hostname or (parts.scheme != "https" and not is_local):
            yield miss_at(facts.environment_file, line, expected, f"{name} holds no https address", todo, harms=True)
        elif "/bcl/" in value and not re.search(r"/bcl/v2/?\Z", value):
            yield miss_at(facts.environment_file, line, expected, f"{name} ends in another path", todo, harms=True)


@case("environment.key", "form", "API-4", SETTINGS, KEY)
def check_keys(facts: Facts) -> Iterator[Miss]:
    """The API's key is there, and belongs to the address's environment."""
    of_test = re.compile(r"test|sandbox|stag|\buat\b|demo", re.IGNORECASE)
    kinds = {"live": re.compile("live|prod", re.IGNORECASE), "test": of_test}
    addresses = [address.value for address in facts.addresses]
    environment = "test" if any(map(of_test.search, addresses)) else "live"
    for name, value, line in facts.keys:
        if not value or re.search(r"^<.*>$|change.?me|your.?key|todo|xxx|example", value, re.IGNORECASE):
            observed, todo = f"{name} holds a placeholder", "Set the key of your credential."
            yield miss_at(facts.environment_file, line, "a key", observed, todo, harms=True)
        kind = next((kind for kind, named in kinds.items() if named.search(name + value)), environment)
        if addresses and kind != environment:
            observed = f"{name} looks like a {kind} key, and the address is of the {environment} environment"
            expected, todo = "a key of the address's environment", "Use it; another key gets a 401 (assumed)."
            yield miss_at(facts.environment_file, line, expected, observed, todo, noted=True)


@case("environment.time-limit", "budget", "REL-5", SETTINGS, LIMIT)
def check_time_limits(facts: Facts) -> Iterator[Miss]:
    """The back end gives up before the wallet does."""
    expected = f"less than {LIMITS['provision']}, platform B's limit (platform A: assumed)"
    for name, value, line in facts.settings("TIMEOUT"):
        if match := re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|sec|seconds)?", value, re.IGNORECASE):
            number, unit = float(match[1]), (match[2] or "").lower()
            in_ms = unit == "ms" or (not unit and (name.upper().endswith("_MS") or number >= 1000))
            seconds = number / 1000 if in_ms else number
            if seconds >= 20:
                observed, todo = f"{name} is {seconds:g} s", "Set it to a few seconds."
                yield miss_at(facts.environment_file, line, expected, observed, todo)
