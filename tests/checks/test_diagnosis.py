"""The diagnosis: every row of the catalogue is found by what people see, and what belongs to no row stays unknown."""

import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from symptoms_page import symptoms_page

from workbook import play
from workbook.base.rules import Owner, rule, rules
from workbook.checks import Finding, Severity, diagnosis
from workbook.checks.diagnosis import LARGEST_LOG, MOST_SHOWN, catalogue, diagnose, row, see
from workbook.checks.platform_b import CASE_ADVICE
from workbook.errors import ConfigurationError, ParameterError
from workbook.flows import messages
from workbook.simulation.phones import CAN_PROVISION_FAILURES, PROVISION_FAILURES
from workbook.tools.commands.cli import main
from workbook.tools.harness.model import Miss
from workbook.tools.proxy.drift import DriftFinding, DriftKind
from workbook.views.findings import findings
from workbook.views.html import RULE_ID

PAGE = Path(__file__).parents[2] / "notebooks" / "reference" / "symptoms.md"
KNOWN = {one.id for one in rules()}
MEASURES = tomllib.loads(Path(__file__).with_name("wordings.toml").read_text("utf-8"))
WORDINGS = MEASURES["wordings"]
SEEN = """
52| WalletPayNotSupported on the pixel 7 emulator image
1| HTTP/1.1 401 Unauthorized
1| {"type": "about:blank", "title": "Unauthorized", "status": 401, "detail": "no", "errorCode": "00_401"}
2| relay: the API answered 403
2| 403
3| {"status": 422, "errorCode": "30_031", "detail": "Invalid Payment Instrument information provided"}
3| POST networkTokenActivationData returned 422
3| POST 422
4| status=413
4| POST 415
4| status code 400, Bad request
5| the relay logs an empty body for every POST
6| Error: undefined
6| request failed: undefined
7| 200 OK, yet sdkInput is null in the app
7| we get 200 but nil arrives
8| pentest: the api key is in the app
9| java.net.SocketTimeoutException: Read timed out
9| adding fails after 30 seconds
10| CardProvisioningCreateResult.Failed.InvalidSdkInput at create
10| invalidSDKInput
11| the wrong card was added to the wallet, wrong card for this customer
12| re-adding the card fails, the card is a dead card
13| InvalidSdkInput when the cardholder taps twice
14| ProvisionResult.Failure.ProvisioningInProgress
15| 15009
15| CannotBeProvisioned.ApiError statusCode=15009
16| W/Wallet: status 15002
16| NoActiveWallet
17| AttestationError
17| code 15005 on the emulator
18| WalletPayNotSupported
18| walletNotSupported thrown by ProvisioningService
19| CanBeProvisioned although the card is added
20| CanBeProvisioned
20| the card is half added and offered again
21| the wallet shows a sheet: Something went wrong
22| provision() never returns
23| CreateSdkOutputNotCalled
24| ProvisionResult.Failure.OpcFetchError(errorMessage=null)
25| > Could not find wallet.provider:tap-and-pay:18.8.0.
25| Could not resolve com.example:push-provisioning:18.3.3
26| the wallet asks for the billing address first
27| the card stays at verify identity
28| the button says already added although it is another card
29| presentationFailure
29| AddPassViewController: view controller is nil
30| canAddCard stays always true
30| the pass list is empty
31| an error before the terms screen
32| an error after the terms screen
33| completion handler called twice, crash
34| the wrapped key was put instead of the ephemeral one: wrappedKey
35| the back end rejects the nonce
36| the button is gone though the watch has no card, watch without the card
37| other watch features stop working
38| the pass requires activation
39| our app is not listed in the wallet
39| entriesUnavailableExtensionStatus
40| no card is offered in the extension
40| passEntries() returned []
41| authentication loops in the extension
42| the chosen card cannot be found
43| it works in the debug build but not in release
43| Store: /home/u/.x/debug.keystore
44| 429
44| HTTP/1.1 429 Too Many Requests
44| the operator's API answers 429 since the release
44| Retry-After: 30
44| the endpoint throttles us
""".strip().splitlines()
UNKNOWN = """
The login page takes four seconds to load
Please reset my password
The marketing banner overlaps the footer
Push messages arrive twice on some tablets
The invoice PDF has the wrong logo
How do I change my delivery method
The build server ran out of disk space
NullPointerException in ProfileViewModel
Segmentation fault in libfoo.so
The colour of the header is too dark
We need 401 new test users
The office has 403 chairs
Room 400 is booked
422 people attended
The unit tests pass on my branch
Deploy the new release tomorrow
A translation is missing in French
The map does not zoom
Bluetooth headphones stutter
The keyboard covers the text field
Database migration 15 failed on staging
Kafka consumer lag is growing
Out of memory while compiling
The certificate of the web shop expires in May
Users want a dark mode
Font size ignores the settings
The chart shows last year
CSV export has a stray comma
The account balance is rounded
Statements are missing for March
Standing orders run a day late
The search box forgets its filter
Face recognition is slow
The fingerprint reader works fine
A typo on the contact page
Cookies are blocked in the web view
The session ends after ten minutes
Too many redirects on the help page
404 on /favicon.ico
500 new customers today
503 Service Unavailable on the marketing site
HTTP 502 from the analytics vendor
DNS lookup for the CDN is slow
Java 17 is required
Gradle daemon stopped unexpectedly
The linter complains about tabs
Merge conflict in the changelog
The splash screen flickers
Crash on launch after the update
Battery drains overnight
Location permission is denied
The camera shows a black image
Scanning a QR code is unreliable
The widget is blank
The tablet layout is broken
Landscape mode crops the picture
The app icon is blurry
Sound plays although muted
A deep link opens the wrong tab
The back gesture closes the app
Scrolling jumps to the top
Pull to refresh does nothing
The list is sorted wrongly
The date picker starts on Sunday
The currency symbol is missing
The IBAN check rejects spaces
Transfers need a second factor
The TAN generator is out of stock
The branch finder shows closed branches
Interest is calculated daily
The loan form loses its values
Chat support is offline
The FAQ is outdated
The newsletter went to the wrong list
GDPR request from a former customer
The audit is next week
Licences expire in June
Our vendor changed its terms
The meeting moved to Thursday
Who owns the repository
Please review my pull request
The coffee machine is broken
Printer on floor three is jammed
VPN drops every hour
Laptop does not wake up
Two monitors show the same picture
The wallet was lost on the train
I left my card at the shop
My card was eaten by the machine
The card fee is too high
A new card design would be nice
The watch strap broke
My watch is five minutes late
The phone is out of storage
The screen is cracked
Which tariff is cheapest
The cardholder pressed cancel
Version 18 of the browser is out
It does not work
The label printer prints nothing
""".strip().splitlines()


def rows(text):
    return [one.row.number for one in diagnose(text).likely]


@pytest.mark.parametrize("line", SEEN)
def test_what_people_see_leads_to_its_row_within_the_first_three(line):
    number, _bar, text = line.partition("| ")
    assert int(number) in rows(text)[:MOST_SHOWN]


def test_every_row_is_led_to():
    shown = {int(line.partition("|")[0]) for line in SEEN} | set(map(int, WORDINGS))
    assert shown == {one.number for one in catalogue()} - {71}, "row 71 has names alone"


@pytest.mark.parametrize(
    ("table", "many", "first", "among_three"), [("wordings", 210, 0.87, 0.92), ("unseen", 71, 0.9, 0.91)]
)
def test_symptoms_in_the_words_of_people_who_never_saw_the_rows_are_found(table, many, first, among_three):
    """None of them is in the index. In the numbers stands what was measured, less 3 in 100."""
    said = [(int(number), words) for number, each in MEASURES[table].items() for words in each]
    found = [(number, rows(words)) for number, words in said]
    assert len(said) >= many
    assert sum(number in likely[:1] for number, likely in found) >= first * len(said)
    assert sum(number in likely[:MOST_SHOWN] for number, likely in found) >= among_three * len(said)


def test_of_the_indexed_words_none_is_among_those_that_measure():
    indexed = {words for one in catalogue() for words in one.words}
    assert indexed.isdisjoint(words for table in MEASURES.values() for each in table.values() for words in each)
    data = tomllib.loads((Path(diagnosis.__file__).with_name("catalogue.toml")).read_text("utf-8"))
    assert [row["number"] for row in data["row"] if row["number"] != 71 and len(row["said"]) < 6] == []


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


@pytest.mark.parametrize("name", names_of_outcomes())
def test_every_name_of_an_outcome_leads_to_a_row(name):
    assert rows(name)
    assert rows(f"E/AddCard: ProvisionResult.Failure.{name}(null)")


@pytest.mark.parametrize(
    "code",
    [4, 5, 6, 7, 8, 10, 13, 14, 15, 17, 19, 20, 21, 22, 15002, 15003, 15004, 15005, 15009, 15019, *range(15021, 15029)],
)
def test_every_status_of_the_wallet_leads_to_one_row(code):
    for words in ("ApiException: {}: ", "statusCode={}", "push tokenize failed with status {}"):
        found = diagnose(words.format(code))
        assert len([one for one in found.likely if one.is_sure]) == 1, words
        assert found.level.startswith(("This is it", "Most likely"))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 413, 415, 422, 429, 500, 502, 503, 504])
def test_every_status_of_the_api_leads_to_a_row(status):
    for words in (
        f"{status}",
        f"HTTP {status}",
        f'{{"status": {status}, "detail": "no"}}',
        f"the operator answers {status}",
    ):
        assert diagnose(words).likely[0].fits, words


@pytest.mark.parametrize("one", catalogue(), ids=lambda one: str(one.number))
def test_each_cause_and_each_check_names_its_source(one):
    for text in (*(cause.cause for cause in one.causes), one.check):
        tags = re.findall(r"\b(?:openapi|sdk-a|sdk-b|wallet|seen|inferred|assumed)\b", text.partition("(")[2] or text)
        named = [each for each in RULE_ID.findall(text) if each in KNOWN]
        assert tags or named, text
        texts = " ".join(rule(each).text for each in named)
        for number, unit in re.findall(r"\b(\d+) (s|ms)\b", text):
            stated = re.search(rf"\b{number} ?(?:{unit}\b|{'milli' if unit == 'ms' else ''}seconds)", texts)
            assert stated or {"wallet", "seen", "assumed"} & {*tags}, text
    assert one.sign
    assert not one.sign.endswith(".")


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (20, "this is by design, and provision completes it (sdk-a)"),
        (40, "20 s for all of them (X-ENTRIES-3)"),
        (25, "18.3.3"),
        (10, "Platform A takes the base64 text as it is (API-7), platform B the decoded bytes (API-8, sdk-b)"),
        (39, "limit 100 ms (X-STATUS-3)"),
        (9, "the wallet's 20 s (REL-5); the clients' default is 30 s (seen)"),
    ],
)
def test_a_check_says_what_its_source_says(number, says):
    """What a careless edit would turn into its opposite; the sentences are those of the document or the notes."""
    assert says in row(number).check


def test_where_two_rows_are_close_one_question_tells_them_apart():
    found = diagnose("InvalidSdkInput")
    assert {one.row.number for one in found.likely[:2]} == {10, 13}
    assert found.question.count("?") == 1
    assert row(10).sign in found.question
    assert row(13).sign in found.question
    assert found.level.startswith("Most likely, because it says 'InvalidSdkInput'")
    assert not diagnose("15009").question
    assert diagnose("15009").level == "This is it: it says '15009'."
    assert re.search(
        r"row \d+ has \d+% of your words", diagnose("the wallet asks our customers for street and zip").level
    )


def test_a_typo_and_the_noise_of_a_log_hide_nothing():
    assert rows("the walet asks for the biling adress of the custommer")[0] == 26
    noise = "2026-03-01 10:00:01.311  4127-4160 D/View com.issuer.app frame drawn"
    line = "2026-03-01 10:00:02.512  4127-4160 E/AddCard com.issuer.app: NetworkOnMainThreadException"
    assert rows(f"{noise}\n{line}\n{noise}")[0] == 55


def test_a_python_without_full_text_search_finds_codes_and_says_what_it_lacks(monkeypatch):
    def lacking(_lines, *, is_log):
        raise ConfigurationError("This Python cannot search text.")

    monkeypatch.setattr(diagnosis, "_ranked", lacking)
    assert rows("15009") == [15]
    with pytest.raises(ConfigurationError, match="cannot search text"):
        rows("the wallet asks for the street")


def test_an_emulator_is_no_case_for_the_operator():
    for words in ("WalletPayNotSupported on the pixel 7 emulator image", "WalletPayNotSupported in an AVD"):
        first = diagnose(words).likely[0].row
        assert (first.number, first.owners) == (52, ("you",))
    assert rows("E/AddCard: Failed.WalletPayNotSupported")[0] == 18


def test_who_writes_and_who_mends_are_both_said():
    text = str(diagnose("21"))
    assert re.search(r"^ +whose job  scheme$", text, re.MULTILINE)
    assert "operator; you write it, scheme mends it" in text


def test_causes_of_one_owner_stand_above_their_owner():
    described = [(name, words) for name, words in diagnose("39").described(diagnose("39").likely[0])][1:]
    names = [name for name, _words in described]
    assert names[:5] == ["cause", "whose job", "cause", "whose job", "cause"]
    assert [words for name, words in described if name == "whose job"] == ["you", "nobody", "you"]


def test_the_numbers_of_the_rows_count_from_1():
    assert sorted(one.number for one in catalogue()) == [*range(1, len(catalogue()) + 1)]


def test_no_sentence_that_belongs_to_no_row_is_there_twice():
    assert len(set(UNKNOWN)) == len(UNKNOWN)


def test_what_belongs_to_no_row_is_not_known():
    """A search knows words and no meaning, so a few of the sentences with words of ours are taken for a symptom."""
    taken = [sentence for sentence in UNKNOWN if rows(sentence)]
    assert len(taken) <= 3, taken
    assert str(diagnose(UNKNOWN[0])).startswith("I do not know")


@pytest.mark.slow
def test_one_line_in_a_log_of_thousands_is_found_with_its_number():
    noise = [f"2026-01-01T10:00:{at % 60:02d} D/View: frame {at} drawn in 16 ms" for at in range(6000)]
    log = "\n".join([*noise[:3000], "E/Wallet: push tokenize failed, status code 15009", *noise[3000:]])
    (first,) = diagnose(log).likely
    assert (first.row.number, first.line, first.evidence) == (15, 3001, "15009")


def test_a_429_comes_before_the_time_limit_that_its_text_sounds_like():
    assert rows("Too many requests, retry after 30 seconds") == [44]
    assert rows("429") == [44]
    found = diagnose("429")
    assert "operator" in found.likely[0].row.owners
    assert "rate limits" in found.message(found.likely[0].row)


def test_a_message_has_the_values_and_no_secret():
    secret = "c2VjcmV0IGRhdGEgb2YgYSBjYXJkaG9sZGVyIGFuZCBtb3Jl"
    text = f'{{"status": 403, "requestId": "req-77a1", "sdkOutput": "{secret}"}} PI3222722322935MDMZ9J83KH'
    found = diagnose(text)
    message = found.message(found.likely[0].row)
    assert "- requestId: req-77a1" in message
    assert "- HTTP status: 403" in message
    assert "- payment instrument: PI32…83KH" in message
    assert secret not in str(found)
    assert found.message(row(4)) == ""


def test_a_value_that_is_missing_is_asked_for():
    found = diagnose("15009")
    assert "- application id: <please fill in>" in found.message(row(15))


def test_whose_job_it_is_is_said_for_every_row():
    owners = {"you", "operator", "wallet provider", "scheme", "nobody"}
    for one in catalogue():
        assert one.check
        assert set(one.owners) <= owners
        assert bool(one.ask) >= bool(set(one.owners) - {"you", "nobody"}), one.number


def test_the_source_of_every_code_is_named():
    codes = re.compile(r"\b150\d\d\b|\b[A-Z][a-z]+(?:[A-Z][a-z]+)+\b")
    with_code = [cause for each in catalogue() for cause in each.causes if codes.search(cause.symptom)]
    assert len(with_code) >= 10
    tagged = re.compile(r"\*(?:sdk-a|sdk-b|wallet|inferred)\b|`[A-Z]+(?:-[A-Z]+)?-\d+`")
    assert [cause.symptom for cause in with_code if not tagged.search(cause.cause)] == []
    wallets = [cause for cause in with_code if re.search(r"\b150\d\d\b", cause.symptom)]
    assert [cause.symptom for cause in wallets if "*wallet*" not in cause.cause] == []


def test_a_row_has_its_number_and_no_rule_that_does_not_exist():
    assert rows("13") == rows("row 13") == [13]
    assert rows(str(len(catalogue()) + 1)) == rows("0") == []
    known = {one.id for one in rules()}
    for one in catalogue():
        assert set(one.rules) <= known
        assert {found for cause in one.causes for found in RULE_ID.findall(cause.cause)} <= known, one.number


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
    assert (miss.see, drift.see) == ("workbook diagnose 9", "workbook diagnose 2")
    assert str(finding).endswith("Disable the button. (workbook diagnose 13)")
    assert "at 0.500 s; symptom 13\n" in findings([finding]).text()
    assert 'title="workbook diagnose 13"' in findings([finding]).html()


def test_a_finding_comes_before_whatever_else_its_text_says():
    text = "warn A-CAN-5 canProvision ended in ApiError: the wallet provider's API answered 15009."
    first = diagnose(f"{text}\nProvisionResult.Failure.Unavailable").likely[0]
    assert (first.row.number, first.evidence) == (15, text[:100])


def test_the_page_is_made_from_the_catalogue(generated):
    generated(PAGE, symptoms_page())


def test_the_command_reads_words_files_and_standard_input(tmp_path, capsys):
    log = tmp_path / "device.log"
    log.write_text("E/Wallet: NoActiveWallet\n")
    assert main(["diagnose", "15002"]) == 0
    assert main(["diagnose", str(log)]) == 0
    assert capsys.readouterr().out.count("row 16") == 2
    assert main(["diagnose", "the", "office", "is", "closed"]) == 1
    assert main(["diagnose", "--reproduce", "15"]) == 0
    assert "15009" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "Which symptom?"),
        (["  "], "The symptom is empty"),
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


@pytest.mark.slow
def test_a_line_that_is_hostile_takes_no_time():
    assert diagnose("provision() " * 200_000 + "\n" + "error " * 300_000 + "\n" + "((((" * 400_000).likely == ()


# A log may have 16 MiB: what costs time for each of its characters has to be little.


def patterns():
    return [pattern for one in catalogue() for pattern in (*one.patterns, *one.common)]


@pytest.mark.parametrize("pattern", patterns(), ids=lambda pattern: pattern.pattern[:60])
@settings(max_examples=settings().max_examples * 3 // 10, deadline=None, suppress_health_check=[*HealthCheck])
@given(data=st.data())
def test_every_match_of_a_pattern_has_one_of_its_anchors_and_is_found_by_it(pattern, data):
    drawn = data.draw(st.from_regex(pattern, alphabet=st.characters(max_codepoint=126)))
    anchors = diagnosis._anchors(pattern)
    assert anchors is not None, "give the pattern a part that every match has, or 16 MiB take a second more"
    for match in pattern.finditer(drawn):
        assert anchors.search(match[0].lower())
    line = drawn.replace("\n", " ")
    text = f"nothing\nİ\nstatus 15009\n{line}\nnothing"
    found, expected = diagnosis._first(pattern, text, text.replace("İ", "i").lower()), pattern.search(text)
    assert (found and found.span()) == (expected and expected.span())


@pytest.mark.slow
def test_a_line_that_repeats_a_finding_a_hundred_thousand_times_is_looked_up_200_times(monkeypatch):
    asked = []
    monkeypatch.setattr(diagnosis, "row_of", lambda rule, text: asked.append(rule))
    diagnose("".join(f"fail API-3 {number}\n" for number in range(100_000)))
    assert len(asked) == 200


def test_the_line_of_a_finding_is_its_own():
    found = diagnose("nothing\nnothing else\nfail X-ENTRIES-3 passEntries took longer\nthe end").likely[0]
    assert found.line == 3


def test_the_values_come_from_both_ends_of_a_long_text():
    filler = "a line without anything\n" * 100_000
    values = diagnose(f"status 15009\n{filler}requestId: in-the-middle\n{filler}requestId: near-the-end\n").values
    assert values["requestId"] == "near-the-end"
    assert values["wallet status"] == "15009"


@pytest.mark.slow
def test_a_cause_in_the_middle_of_a_long_log_is_found():
    filler = "".join(f"{number} a line without anything\n" for number in range(60_000))
    found = diagnose(f"{filler}ProvisionResult.Failure.Unavailable\n{filler}").likely[0]
    assert (found.row.number, found.line) == (15, 60_001)
