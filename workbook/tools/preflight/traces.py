"""Judges what becomes an app by its text, in whatever language: the API's address, its key, and calls in clear text.

The files are sources, resources and build files; comments do not count. A grammar is not needed, so a file in Java,
Objective-C, TypeScript, JavaScript, Dart or C# is judged as one in Kotlin or Swift is.
"""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from workbook.tools.harness.model import Miss
from workbook.tools.preflight.model import Facts, miss_at
from workbook.tools.preflight.platform_b import read_plist
from workbook.tools.preflight.project import File, table

_COMMENT = re.compile(rb"(?<!:)//[^\n]*|/\*.*?(?:\*/|\Z)|<!--.*?(?:-->|\Z)", re.DOTALL)
_LOCAL = re.compile(
    r"^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|0\.0\.0\.0)|\.(local|localhost|lan)\Z|^[^.]*\Z"
)


def matches(file: File, pattern: bytes, flags: int = re.IGNORECASE) -> Iterator[tuple[int, re.Match[bytes]]]:
    """Each place of a file where the pattern fits outside of comments, with its line, from 1."""
    hashes = file.name.endswith((".properties", ".env", ".yaml"))
    text = re.sub(rb"(?m)^\s*#[^\n]*", b"", file.content) if hashes else file.content
    # the lines of a comment stay, so that the line of a finding is right
    code = _COMMENT.sub(lambda match: b"\n" * match[0].count(b"\n"), text)
    line, at = 1, 0
    for match in re.finditer(pattern, code, flags):
        line, at = line + code.count(b"\n", at, match.start()), match.start()
        yield line, match


def _before(match: re.Match[bytes], pattern: str) -> str:
    """What fits right before the match, of the 200 bytes there."""
    text = match.string[max(match.start() - 200, 0) : match.start()].decode("utf-8", "replace")
    found = re.search(pattern, text)
    return found[0] if found else ""


def _first(facts: Facts, *words: bytes) -> Iterator[tuple[str, int]]:
    """Each file of an app that has one of these words, in small letters, and the first line with one."""
    pattern = b"|".join(map(re.escape, words))
    for file in facts.app_files if words else ():
        if file.mentions(*words):
            yield from ((file.name, line) for line, _match in [*matches(file, pattern)][:1])


def api_address(facts: Facts) -> Iterator[Miss]:
    """The API's path in what becomes an app, or its host, where the environment names it."""
    hosts = {urlsplit(value).hostname or "" for _name, value, _line in facts.addresses}
    known = [host.encode() for host in hosts if host and not _LOCAL.search(host)]
    for file, line in _first(facts, b"bcl/v2", b"networktokenactivationdata", *known):
        yield miss_at(file, line, "the API's address or path")


def api_key(facts: Facts) -> Iterator[Miss]:
    """The API's key in what becomes an app, the header for it, or a text that has a key's name or form.

    Many services have a key, and many gateways have a header of that name: without another trace of the API, and
    without a name of this flow, that is only noted.
    """
    keys = [value.lower().encode() for _name, value, _line in facts.keys if value in facts.secrets]
    is_sure = any(api_address(facts)) or any(_first(facts, *keys))
    todo = "Take the key out of the app, and replace it: whoever has the app has the key."
    seen = set()
    for name, line in _first(facts, b"x-api-key", *keys):
        seen.add((name, line))
        more = "" if is_sure else " If this is the header of your own gateway, ignore this note."
        yield miss_at(name, line, "the API's key, or the header for it", todo=f"{todo}{more}", noted=not is_sure)
    for file in facts.app_files:
        if file.mentions(b"key", b"secret", b"sk_"):
            for line, named, of_flow in _keys_in(file):
                if (file.name, line) not in seen:
                    more = "" if of_flow or is_sure else " If it is the key of another service, ignore this note."
                    observed = f"a key by the name of {named}" if named else "a text with the form of a secret key"
                    yield miss_at(file.name, line, observed, todo=f"{todo}{more}", noted=not (of_flow or is_sure))


def _keys_in(file: File) -> Iterator[tuple[int, str, bool]]:
    """Each line with a key: its name, empty where only the form tells; and whether it is surely one of this flow."""
    named = rb"""((?:api[_.-]?key|client[_.-]?secret|secret[_.-]?key)\w{0,40})
        (?:[^\w$@]{1,12}(?:key|string|value|char|const)?){1,4}?
        (?<![\w$@./-])([A-Za-z0-9_+/=~-]{14,})(?![\w.(])"""
    flow = re.compile(r"issuer|wallet|provision|operator|card|bcl|x-api", re.IGNORECASE)
    # services whose keys are meant to be in an app, and the forms of such keys
    others = re.compile(r"google|maps?|geo|firebase|fcm|sentry|segment|amplitude|mixpanel|braze|adjust|appsflyer"
                        r"|bugsnag|datadog|relic|onesignal|mapbox|algolia|intercom|launchdarkly|branch|rollbar|analytics"
                        r"|instabug|revenue|captcha|youtube|public|current", re.IGNORECASE)  # fmt: skip
    for line, match in matches(file, named, re.IGNORECASE | re.VERBOSE):
        name, value = _before(match, r"[\w.-]*\Z") + match[1].decode(), match[2].decode()
        is_key = (
            re.search(r"\d", value) and re.search("[a-z]", value, re.IGNORECASE) and not re.match("AIza|pk_", value)
        )
        placeholder = re.search(r"your|change.?me|xxx|example|placeholder|dummy", value, re.IGNORECASE)
        if is_key and not placeholder and (flow.search(name) or not others.search(name)):
            yield line, name, bool(flow.search(name) or re.match("sk[_-]", value))
    for line, _match in matches(file, rb"[\"'>=\s]sk_(live|test)_\w{8,}"):
        yield line, "", True


def cleartext(facts: Facts) -> Iterator[Miss]:
    """What lets the app call its back end in clear text, and an address of it that does."""
    todo = "Use https. Where a development server needs clear text, allow it in the debug build, for its host alone."
    for file in facts.app_files:
        if re.search(r"(^|/)(debug|src/debug|src/dev|development)/", file.name.lower()):
            continue
        if file.name.endswith(".plist"):
            for host in _insecure_hosts(table((read_plist(file.content) or {}).get("NSAppTransportSecurity"))):
                yield miss_at(file.name, file.line("NSAppTransportSecurity"), f"clear text to {host}", todo=todo)
        if file.name.endswith(".xml"):
            for line, host in _permitted(file):
                yield miss_at(file.name, line, f"clear text to {host}", todo=todo)
        if file.mentions(b"http://"):
            yield from _addresses(file)


def _insecure_hosts(security: dict[str, object]) -> Iterator[str]:
    """The hosts that a property list allows to be called in clear text."""
    if security.get("NSAllowsArbitraryLoads") is True:
        yield "every host"
    for host, entry in table(security.get("NSExceptionDomains")).items():
        keys = [key for key, value in table(entry).items() if "AllowsInsecureHTTPLoads" in key and value is True]
        if keys and not _LOCAL.search(host):
            yield host


def _permitted(file: File) -> Iterator[tuple[int, str]]:
    """The lines of a manifest or of a network security configuration that permit clear text, and to which host."""
    for line, _match in matches(file, rb'usesCleartextTraffic\s*=\s*"true"'):
        yield line, "every host"
    blocks = rb'<(base|domain)-config[^>]*cleartextTrafficPermitted\s*=\s*"true"[^>]*(?:/>|>(.{0,20000}?)</\1-config>)'
    for line, match in matches(file, blocks, re.DOTALL | re.IGNORECASE):
        hosts = [
            host.strip().decode("utf-8", "replace") for host in re.findall(rb"<domain[^>]*>([^<]*)<", match[2] or b"")
        ]
        if match[1] == b"base" or not all(map(_LOCAL.search, hosts)):
            yield line, ", ".join(hosts) or "every host"


def _addresses(file: File) -> Iterator[Miss]:
    """The addresses of a back end in clear text: by the words before them, or by the name of the file."""
    words = r"base|api|end_?point|back_?end|server|gateway|host|origin|address|relay"
    of_back_end = re.search(r"back_?end|api|client|network|gateway|relay", file.path.stem, re.IGNORECASE)
    for line, match in matches(file, rb"http://(?:[^\s/@\"'<]{1,80}@)?([\w.-]+)"):
        host, before = match[1].decode().lower(), _before(match, r"[^\n]*\Z")
        # names of XML's own things look like addresses
        is_name = re.search(r"xmlns|doctype|schema|namespace", before, re.IGNORECASE) or re.match(
            r"(schemas?|www\.w3|ns|xml|java\.sun|www\.apache|purl)\b", host
        )
        if not is_name and not _LOCAL.search(host) and (of_back_end or re.search(words, before, re.IGNORECASE)):
            todo = "Write https: a session or card data in clear text is anybody's on the way."
            yield miss_at(file.name, line, f"http://{host}", todo=todo, harms=True)
