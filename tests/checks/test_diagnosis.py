"""The diagnosis: evidence decides, words only search, and what belongs to no row stays unknown."""

import re
import tomllib
from itertools import cycle, islice
from pathlib import Path

import pytest
from rows import rows
from symptoms_page import symptoms_page
from texts import demand_none

from workbook import play
from workbook.base.rules import Owner, rule, rules
from workbook.checks import Finding, Severity, diagnosis
from workbook.checks.diagnosis import LARGEST_LOG, PLATFORMS, STEPS, catalogue, diagnose, row, see, triage
from workbook.checks.platform_b import CASE_ADVICE
from workbook.errors import ParameterError
from workbook.flows import messages
from workbook.simulation.phones import CAN_PROVISION_FAILURES
from workbook.simulation.wallet import PROVISION_FAILURES
from workbook.tools.commands import diagnosis as command
from workbook.tools.commands.cli import main
from workbook.tools.harness.model import Miss
from workbook.tools.proxy.drift import Drift, DriftFinding, DriftKind, as_text
from workbook.views.findings import findings
from workbook.views.html import RULE_ID

PAGE = Path(__file__).parents[2] / "notebooks" / "reference" / "symptoms.md"
CATALOGUE = Path(diagnosis.__file__).with_name("catalogue.toml")
OWNERS = {"you", "operator", "wallet provider", "scheme", "issuer", "nobody"}
KNOWN = {one.id for one in rules()}
WORDINGS = tomllib.loads(Path(__file__).with_name("wordings.toml").read_text("utf-8"))
ELSEWHERE = WORDINGS.pop("elsewhere")
REPORTS = tomllib.loads(Path(__file__).with_name("reports.toml").read_text("utf-8"))["report"]
CODES = """
{} | status {} | error {} | ApiException: {} | E/TapAndPay(2211): platform.common.api.ApiException: {}: refused
Status{{statusCode={}, resolution=null}} | {{"errorCode": "{}"}} | we get {}. | {}: TAP_AND_PAY_ERROR
TAP_AND_PAY_ERROR ({}) | push tokenize failed with status code {} | canProvision returned {} on a new phone
{} when adding a card to the wallet
"""
"""How a status of the wallet is written; beside other words the number is a number."""
LOGGED = [
    (10, ["E/Flutter (9121): CardProvisioning.create -> Failed.InvalidSdkInput"]),
    (24, ["W/System.err: java.io.IOException: unexpected end of stream",
          "W/System.err:     at issuer.BackEndOpcProvider.fetchOpc(BackEnd.kt:41)"]),
    (9, ["Traceback (most recent call last):", '  File "relay.py", line 88, in post', "httpx.ReadTimeout"]),
    (3, ['INFO httpx: HTTP Request: POST https://api.test/x "HTTP/1.1 422 Unprocessable Entity"']),
    (1, ['10.0.0.7 [03/Mar/2026:10:15:04] "GET /bcl/v2/paymentInstruments/PI/x HTTP/1.1" 401 312']),
    (4, ['10.0.0.7 [03/Mar/2026:10:15:04] "POST /bcl/v2/paymentInstruments/PI/x HTTP/1.1" 400 312']),
    (14, ["D/AddCard: result=ProvisionResult$Failure$ProvisioningInProgress@4f2a"]),
    (16, ["E/TapAndPay: com.platform.common.api.ApiException: 15002: "]),
    (17, ["E/TapAndPay: ApiException: 15005: TAP_AND_PAY_ATTESTATION_ERROR"]),
    (39, ["WalletExtension[512] <Debug>: status() done in 0.34 s"]),
    (40, ["WalletExtension[512] <Debug>: passEntries() finished after 23.4 s with 0 entries"]),
    (33, ["Issuer[77] *** Terminating app: completion handler has already been invoked"]),
    (7, ["relay INFO upstream 200 OK, content-length 2", "relay INFO reply to app: {sdkInput=null}"]),
    (8, ["I/okhttp.OkHttpClient: --> GET https://api.operator.example/bcl/v2/paymentInstruments/PI/networkToken",
         "I/okhttp.OkHttpClient: x-api-key: AQE0...", "I/okhttp.OkHttpClient: --> END GET"]),
    (6, ["node:internal/process HttpClientException: undefined", "    at HttpURLConnectionClient.request"]),
]  # fmt: skip
NOISE = [
    "I/Choreographer: Skipped 31 frames! The application may be doing too much work on its main thread.",
    "D/okhttp.OkHttpClient: <-- 200 OK https://cdn.example/fonts.css (41ms, 1834-byte body)",
    "I/art: Background concurrent mark sweep GC freed 12031(1MB) AllocSpace objects, paused 1.2ms total 103ms",
    "W/System: A resource failed to call close.",
    "D/Auth: token refreshed, expires in 3599 s",
    "E/Ads: Failed to load ad: 3",
    'Mar  3 10:15:04 web nginx: "GET /health HTTP/1.1" 200 2 "-" "kube-probe/1.29"',
    "DEBUG sqlalchemy.engine: SELECT cards.id FROM cards WHERE cards.owner = ? [cached since 12.4s ago]",
]
LINES = 400


def log(telling):
    """These lines in the middle of a log."""
    noise = list(islice(cycle(NOISE), LINES))
    return "\n".join([*noise[: LINES // 2], *telling, *noise[LINES // 2 :]])


def likely_rows(text):
    return [one.row.number for one in diagnose(text).likely]


def test_the_reports_of_people_get_the_right_answer():
    for report in REPORTS:
        found = diagnose(report["text"].strip())
        answer = str(found)
        assert not report["first"] or found.likely[0].row.number == report["first"], answer
        assert answer.startswith("This is it") >= report.get("sure", False), answer
        assert [words for words in report.get("says", ()) if words not in answer] == [], answer
        assert [words for words in report.get("never", ()) if words in answer] == [], answer


@pytest.mark.parametrize(
    ("table", "many", "first", "among"),
    [("wordings", 210, 0.88, 0.92), ("unseen", 71, 0.9, 0.91), ("seen", 70, 0.95, 1), ("reports", 129, 0.89, 0.96)],
)
def test_symptoms_in_the_words_of_people_are_found_and_none_is_a_wrong_verdict(table, many, first, among):
    """None of them is in the index. In the numbers stands what was measured, less 2 or 3 in 100."""
    said = [(int(number), words) for number, each in WORDINGS[table].items() for words in each]
    found = [(number, diagnose(words)) for number, words in said]
    numbers = [(number, [one.row.number for one in each.likely]) for number, each in found]
    assert len(said) >= many
    assert sum(number in likely[:1] for number, likely in numbers) >= first * len(said)
    assert sum(number in likely[:3] for number, likely in numbers) >= among * len(said)
    assert [
        each.likely for number, each in found if "This is" in each.level and each.likely[0].row.number != number
    ] == []


def lacks(number):
    """What a row lacks, in sentences: words that lead to it, a place in the three questions, a whole message."""
    one, listed = row(number), "the tables of tests/checks/wordings.toml have no line that leads to it"
    others = {*one.owners} - {"you", "nobody"}
    sections = sorted({section for each in PLATFORMS.values() for section in each})
    yield "" if any(str(number) in table for table in WORDINGS.values()) else listed
    yield "" if one.section in sections else f"its section is none of {sections}"
    yield "" if one.after and {*one.after} <= {*STEPS} else f"its after names none of {list(STEPS)}, or another"
    yield "" if one.check else "it has no check"
    yield "" if {*one.owners} <= OWNERS else f"an owner is none of {sorted(OWNERS)}"
    yield "" if one.ask or not others else f"{', '.join(sorted(others))} has to act, and it has no message to ask"
    whole = bool(one.ask) == bool(one.needs) == (one.to in {"operator", "wallet provider"})
    yield "" if whole else "ask, needs and to belong together: all three or none"
    yield "" if "Platform B" not in one.section or "SHA-256" not in one.needs else "platform B has no SHA-256"
    yield "" if one.to != "wallet provider" or one.to in others else "it asks the wallet provider, who need not act"
    asked = others != {"wallet provider"} or one.to in others or one.codes
    yield "" if asked else "the wallet provider has to act, and it asks another"


def test_no_row_lacks_anything():
    lines = CATALOGUE.read_text("utf-8").splitlines()
    at = {one.number: 1 + lines.index(f"number = {one.number}") for one in catalogue()}
    demand_none([f"{CATALOGUE.name}:{at[one]}: row {one}: {why}" for one in at for why in lacks(one) if why])
    shown = {int(number) for table in WORDINGS.values() for number in table}
    assert shown <= {*at}
    assert {step for one in catalogue() for step in one.after} == set(STEPS)


def test_what_a_long_report_says_is_found_as_what_its_one_sentence_says():
    before = "Hello, we ship a banking app. Six people work on it and version 4 was released on Monday.\n\n"
    after = "\n\nWe cleared the caches and asked a colleague. Our monitoring shows nothing.\nAny idea? Thanks, Ann"
    said = [words for each in WORDINGS["reports"].values() for words in each]
    lost = [words for words in said if set(likely_rows(words)[:1]) - set(likely_rows(before + words + after)[:3])]
    assert len(lost) <= 3, lost


def test_what_belongs_to_no_row_is_not_known():
    """A search knows words and no meaning: of these, some of which share words with the rows, a few are taken."""
    taken = [words for each in ELSEWHERE.values() for words in each if likely_rows(words)]
    assert len(taken) <= 5, taken
    assert str(diagnose(ELSEWHERE["unknown"][0])).startswith("I do not know")


def names_of_outcomes():
    """Every name of a failure: those of ProvisionResult, those of the document's messages, platform B's errors."""
    said = (
        one.says.rpartition(".")[2] for one in vars(messages).values() if isinstance(one, type) and hasattr(one, "says")
    )
    outcomes = {name for name in said if re.fullmatch(r"(?:[A-Z][a-z]+){2,}", name)} - {"CanBeProvisioned"}
    thrown = re.findall(r'_(?:threw|refused)\(\s*"(\w+)"|SdkError\("(\w+)"', "".join(
        path.read_text("utf-8")
        for part in ("play", "simulation") for path in Path(play.__file__).parents[1].joinpath(part).rglob("*.py")
    ))  # fmt: skip
    errors = {name for pair in thrown for name in pair if name}
    assert {"NotFound", "x"}.isdisjoint(errors)
    assert len(errors) >= 6
    return sorted({*PROVISION_FAILURES, *outcomes, *CAN_PROVISION_FAILURES, *errors, *CASE_ADVICE})


def test_every_name_of_an_outcome_leads_to_a_row():
    for name in names_of_outcomes():
        assert diagnose(name).decided, name
        assert diagnose(f"E/AddCard: ProvisionResult.Failure.{name}(null)").decided, name


def test_every_status_of_the_wallet_leads_to_one_row():
    codes = [
        4,
        5,
        6,
        7,
        8,
        10,
        13,
        14,
        15,
        16,
        17,
        19,
        20,
        21,
        22,
        *range(15002, 15006),
        15009,
        15019,
        *range(15021, 15029),
    ]
    for code in codes:
        for words in ("ApiException: {}: ", "statusCode={}", "push tokenize failed with status {}"):
            found = diagnose(words.format(code))
            assert len([one for one in found.likely if one.is_certain]) == 1, (code, words)
            assert found.level.startswith("This is it"), (code, words)


def test_a_status_of_the_wallet_leads_to_its_row_however_it_is_written():
    for number, code in ((15, "15009"), (16, "15002"), (17, "15005")):
        for words in re.split(r" \| |\n", CODES.strip()):
            text = words.format(code)
            first = diagnose(text).likely[0]
            assert (first.row.number, first.evidence, first.is_certain) == (number, text, True)


def test_every_status_of_the_api_leads_to_a_row():
    for status in (400, 401, 403, 404, 405, 413, 415, 422, 429, 500, 502, 503, 504):
        named = (f'{{"status": {status}, "errorCode": "no"}}', f"the operator answers {status}")
        for words in (f"{status}", f"HTTP {status}", *named):
            found = diagnose(words).likely[0]
            assert (status in found.row.status, found.is_certain) == (True, words in named), words


@rows("one", catalogue())
def test_each_cause_and_each_check_names_its_source(one):
    for text in filter(None, (*(part for cause in one.causes for part in (cause.cause, cause.check)), one.check)):
        tags = re.findall(r"\b(?:openapi|sdk-a|sdk-b|wallet|seen|inferred|assumed)\b", text.partition("(")[2] or text)
        named = [each for each in RULE_ID.findall(text) if each in KNOWN]
        assert tags or named, text
        texts = " ".join(rule(each).text for each in named)
        for number, unit in re.findall(r"\b(\d+) (s|ms)\b", text):
            stated = re.search(rf"\b{number} ?(?:{unit}\b|{'milli' if unit == 'ms' else ''}seconds)", texts)
            assert stated or {"wallet", "seen", "assumed"} & {*tags}, text
    assert one.sign
    assert not one.sign.endswith(".")


def test_where_two_rows_are_close_one_question_tells_them_apart():
    found = diagnose("InvalidSdkInput")
    assert {one.row.number for one in found.decided} == {10, 13}
    assert found.question.count("?") == 1
    assert row(10).sign in found.question
    assert row(13).sign in found.question
    assert found.level.startswith(
        "Line 1 says 'InvalidSdkInput'. That proves nothing, and it speaks for row 10 and row 13."
    )
    assert not diagnose("15009").question
    assert diagnose("15009").level == "This is it: line 1 says '15009'."
    by_words = str(diagnose("the wallet asks our customers for street and zip"))
    assert by_words.startswith("No code, name or line in this text decides. These rows mention your words:")
    assert "words: zip, asks" in by_words, "words of the text, and no stems"
    assert "Most likely" not in by_words
    assert "send to" not in by_words


def test_a_typo_and_the_noise_of_a_log_hide_nothing():
    assert likely_rows("the walet asks for the biling adress of the custommer")[0] == 26
    noise = "2026-03-01 10:00:01.311  4127-4160 D/View com.issuer.app frame drawn"
    line = "2026-03-01 10:00:02.512  4127-4160 E/AddCard com.issuer.app: NetworkOnMainThreadException"
    assert likely_rows(f"{noise}\n{line}\n{noise}")[0] == 55


def test_an_emulator_is_no_case_for_the_operator():
    for words in ("WalletPayNotSupported on the pixel 7 emulator image", "WalletPayNotSupported in an AVD"):
        first = diagnose(words).likely[0].row
        assert (first.number, first.owners) == (52, ("you",))
    assert likely_rows("E/AddCard: Failed.WalletPayNotSupported")[0] == 18


def test_causes_of_one_owner_stand_above_their_owner():
    described = [(name, words) for name, words in diagnose("39").described(diagnose("39").likely[0])][1:]
    names = [name for name, _words in described]
    assert names[:5] == ["cause", "whose job", "cause", "whose job", "cause"]
    assert [words for name, words in described if name == "whose job"] == ["you", "nobody", "you", "operator, scheme"]


def test_the_numbers_of_the_rows_count_from_1():
    assert sorted(one.number for one in catalogue()) == [*range(1, len(catalogue()) + 1)]
    assert likely_rows("13") == likely_rows("row 13") == [13]
    assert diagnose("13").level == "This is the row that you asked for."
    assert likely_rows(str(len(catalogue()) + 1)) == likely_rows("0") == []


def test_a_429_comes_before_the_time_limit_that_its_text_sounds_like():
    assert [one.row.number for one in diagnose("Too many requests, retry after 30 seconds").decided] == [44]
    found = diagnose("429")
    assert found.likely[0].row.number == 44
    assert "operator" in found.likely[0].row.owners
    assert "rate limits" in found.message(found.likely[0].row)


def test_a_log_leads_to_its_row_and_its_line():
    for number, telling in LOGGED:
        found = diagnose(log(telling)).likely
        assert number in [one.row.number for one in found[:3]]
        assert all(LINES // 2 < one.line <= LINES // 2 + len(telling) for one in found), number
    assert likely_rows(log([])) == [], "nothing went wrong"
    time_out = "E/BackEnd: java.net.SocketTimeoutException: Read timed out"
    assert likely_rows(log([time_out])) == [9]
    outcome = "W/Page: ProvisionResult.Failure.OpcFetchError(errorMessage=timeout)"
    assert likely_rows(log([time_out, outcome])) == [24, 9], "an outcome comes before the timeout that it rests on"


def test_a_message_has_the_values_and_no_secret():
    secret = "c2VjcmV0IGRhdGEgb2YgYSBjYXJkaG9sZGVyIGFuZCBtb3Jl"
    key = "key-of-the-back-end-5f20c1"
    card = "PI3222722322935MDMZ9J83KH"
    text = f'{{"status": 403, "requestId": "req-77a1", "sdkOutput": "{secret}"}} x-api-key: {key} {card}'
    found = diagnose(text)
    message = found.message(found.likely[0].row)
    assert "- requestId: req-77a1" in message
    assert "- HTTP status: 403" in message
    assert "- payment instrument: PI32…83KH" in message
    elsewhere = str(diagnose(f"status 403 {secret} {card} x-api-key: {key}, sdkOutput={secret}"))
    for hidden in (secret, key, card):
        assert hidden not in str(found)
        assert hidden not in elsewhere
    assert found.message(row(4)) == ""


def test_a_name_of_code_is_no_secret():
    name = "UnsupportedOperationInProvisioningDelegateException"
    assert name in str(diagnose(f"status 403 of the API: {name}"))


def test_a_message_asks_for_what_its_recipient_needs():
    assert "- application id: <please fill in>" in diagnose("15009").message(row(15))
    assert "- store id (Adam ID): <please fill in>" in diagnose("row 30").message(row(30))


def test_a_row_has_no_rule_that_does_not_exist():
    for one in catalogue():
        assert set(one.rules) <= KNOWN
        assert {found for cause in one.causes for found in RULE_ID.findall(cause.cause)} <= KNOWN, one.number


def test_three_questions_lead_to_each_row(monkeypatch, capsys):
    led_to = {one.number for platform in PLATFORMS for those in triage(platform).values() for one in those}
    assert led_to == {one.number for one in catalogue()}
    typed = iter(["1", "x", "4", "1"])
    monkeypatch.setattr("builtins.input", lambda _prompt: next(typed))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    assert command._ask_three_questions() == f"row {triage('platform A')['the button'][0].number}"
    assert "Type a number from 1 to" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("rule", "text", "number"),
    [
        ("A-BTN-1", "The cardholder tapped Add while an attempt was under way.", 13),
        ("A-CAN-6", "The card is half added: an identity check is pending.", 20),
        ("A-CAN-6", "The card is in the wallet and is offered again.", 19),
        ("GAP-1", "The API answered 403.", 2),
        ("GAP-1", "The HTTP API answered 429, most likely: too many requests (assumed).", 44),
        ("GAP-8", "the entitlement is missing", 29),
        ("A-PROV-3", "provision ended in Failure: OpcFetchError", 24),
        ("REL-1", "The POST was sent again.", 49),
        ("REL-9", "The error names an address.", 0),
    ],
)
def test_a_finding_leads_to_its_row(rule, text, number):
    assert see(rule, text) == (f"workbook diagnose {number}" if number else "")


def test_a_finding_of_every_command_names_its_row():
    miss = Miss("an answer within 20 s", "none after 30 s", "Answer sooner.", rule="REL-5")
    drift = DriftFinding(DriftKind.DOCUMENT, "GET", "it answers 403", "it answers 200", "GAP-1", 1, 1, (1,))
    finding = Finding("A-BTN-1", Severity.FAIL, Owner.YOU, "Two taps began two attempts.", "Disable the button.", 0.5)
    assert miss.see == "workbook diagnose 9"
    assert "workbook diagnose 2\n" in as_text(Drift("default", (drift,), 1, ()))
    assert str(finding).endswith("Disable the button. (workbook diagnose 13)")
    assert "at 0.500 s; symptom 13\n" in findings([finding]).text()
    assert 'title="workbook diagnose 13"' in findings([finding]).html()


def test_a_finding_comes_before_whatever_else_its_text_says(monkeypatch):
    text = "warn A-CAN-5 canProvision ended in ApiError: the wallet provider's API answered 15009."
    first = diagnose(f"nothing\n{text}\nProvisionResult.Failure.Unavailable").likely[0]
    assert (first.row.number, first.line, first.evidence) == (15, 2, text[:100])
    asked = []
    monkeypatch.setattr(diagnosis, "row_of", lambda rule, text: asked.append(rule))
    diagnose("".join(f"fail API-3 {number}\n" for number in range(1_000)))
    assert len(asked) == 200


def test_the_page_is_made_from_the_catalogue(generated):
    generated(PAGE, symptoms_page())


def test_the_command_reads_words_files_and_standard_input(tmp_path, capsys):
    log = tmp_path / "device.log"
    log.write_text("E/Wallet: NoActiveWallet\n")
    assert main(["diagnose", "15002"]) == 0
    assert main(["diagnose", str(log)]) == 0
    assert capsys.readouterr().out.count("row 16:") == 2
    assert main(["diagnose", "the", "office", "is", "closed"]) == 1
    assert main(["diagnose", "--reproduce", "15"]) == 0
    assert "15009" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "Which symptom?"),
        (["  "], "The symptom is empty"),
        (["nofile.txt"], "Cannot read 'nofile.txt'"),
        (["."], "Cannot read '.'"),
        (["/dev/null"], "Cannot read '/dev/null'"),
        (["--reproduce", "1000"], f"from 1 to {len(catalogue())}"),
        (["--reproduce", "22"], "cannot be played"),
    ],
)
def test_a_wrong_command_line_is_one_sentence(capsys, words, says):
    assert main(["diagnose", *words]) == 2
    assert says in capsys.readouterr().err


def test_a_text_that_is_too_large_is_refused():
    with pytest.raises(ParameterError, match="larger than 16 MiB"):
        diagnose("x" * (LARGEST_LOG + 1))


def test_the_values_come_from_both_ends_of_a_long_text():
    filler = "a line without anything\n" * 100_000
    values = diagnosis._read_values(
        f"status 15009\n{filler}requestId: in-the-middle\n{filler}requestId: near-the-end\n"
    )
    assert values["requestId"] == "near-the-end"
    assert values["wallet status"] == "15009"


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["entitlement", "/broker/", "zqwxv. ", "error pkerror "])
def test_one_long_line_is_read_once(piece):
    """A pattern took the square of it, and each word that nobody knows was compared with each that is known: hours."""
    assert diagnose(piece * (2**21 // len(piece))).level


def test_a_file_of_one_long_line_is_read_to_its_end():
    entries = '{"status": 200, "url": "https://shop.test/"}, ' * 5_000
    found = diagnose(f'[{entries}{{"error": "ProvisionResult.Failure.Unavailable"}}]').likely[0]
    assert (found.row.number, found.line) == (15, 1)


@pytest.mark.slow
def test_a_hostile_line_and_a_long_log_take_no_time():
    assert diagnose("provision() " * 20_000 + "\n" + "error " * 30_000 + "\n" + "((((" * 40_000).likely == ()
    filler = "".join(f"{number} a line without anything at {number % 700} of the card\n" for number in range(15_000))
    found = diagnose(f"{filler}ProvisionResult.Failure.Unavailable\n{filler}").likely[0]
    assert (found.row.number, found.line) == (15, 15_001)
