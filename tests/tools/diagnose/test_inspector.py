"""The inspector: every damage is named, what is inside is still recognised, and no value is shown."""

import json
import re
from base64 import b64decode, b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

import workbook as wb
from workbook.errors import ParameterError
from workbook.flows import messages as m
from workbook.flows.variants import A_FROM_0_4_0
from workbook.simulation.phones import PhoneA, PhoneB
from workbook.simulation.sdks import SdkA, SdkB
from workbook.simulation.seal import Content, Seal, damaged
from workbook.tools.commands.cli import main
from workbook.tools.diagnose.inspector import LARGEST_VALUE, UNKNOWN_KIND, inspect

GET = {
    "paymentInstrumentId": "PI3222722322935MDMZ9J83KH",
    "cardholderName": "ANN EXAMPLE",
    "brand": "scheme-1",
    "lastFour": "4242",
    "supportedWallets": ["wallet-a", "wallet-b"],
}
OUTPUT = {"certificates": ["a", "b"], "nonce": "AAAA", "nonceSignature": "BBBB"}
ANSWER = {"activationData": "A", "encryptedPassData": "B", "ephemeralPublicKey": "C"}


def text(content):
    return b64encode(json.dumps(content).encode()).decode()


@pytest.mark.rule("API-7", "API-8")
@pytest.mark.parametrize(
    ("content", "kind"),
    [(GET, "the GET's sdkInput"), (OUTPUT, "platform B's sdkOutput"), (ANSWER, "the POST's sdkInput")],
)
def test_a_good_value_is_recognised_and_platform_a_takes_it_as_it_is(content, kind):
    found = inspect(text(content) + "\n")
    assert found.kind.startswith(kind)
    assert (found.wrong, found.takes, found.body) == ((), "output text" if content is OUTPUT else "text", "")
    assert list(found.fields) == list(content)


@pytest.mark.parametrize(
    ("damage", "layer"),
    [
        ("encoded twice", "encoded-twice"),
        ("quoted", "quoted"),
        ("wrapped into lines", "line-breaks"),
        ("decoded", "decoded-once-too-often"),
    ],
)
def test_a_damage_is_named_and_what_is_inside_is_still_recognised(damage, layer):
    found = inspect(damaged(text(GET), damage))
    assert [one.layer for one in found.wrong] == [layer]
    assert found.kind.startswith("the GET's sdkInput")


def test_where_the_wrong_character_is_is_said():
    value = text(GET | {"cardholderName": "ÿÿ?>?>ÿÿ>>>???"})
    at = value.index("/") if "/" in value else value.index("+")
    (wrong,) = inspect(value.replace("+", "-").replace("/", "_")).wrong
    assert wrong.layer == "url-safe"
    assert wrong.at <= at + 1
    assert inspect(value[:50] + "%" + value[50:]).wrong[0].at == 51
    wrapped = inspect(damaged(value, "wrapped into lines")).wrong[0]
    assert damaged(value, "wrapped into lines")[wrapped.at - 1] == "\n"


def test_a_trimmed_padding_is_put_back():
    value = next(text(GET | {"x": "y" * size}) for size in range(3) if text(GET | {"x": "y" * size}).endswith("="))
    found = inspect(value.rstrip("="))
    assert [one.layer for one in found.wrong] == ["padding"]
    assert found.kind.startswith("the GET's sdkInput")


def test_two_damages_are_both_named_from_the_outside_in():
    found = inspect(json.dumps(damaged(text(GET), "encoded twice")))
    assert [one.layer for one in found.wrong] == ["quoted", "encoded-twice"]


def test_a_whole_body_is_opened():
    found = inspect(json.dumps({"sdkInput": text(GET)}))
    assert (found.body, found.wrong, found.takes) == ("sdkInput", (), "text")


@pytest.mark.rule("API-8")
def test_platform_bs_bytes_are_for_platform_b():
    found = inspect(b64decode(text(ANSWER)))
    assert found.takes == "bytes"
    assert "platform B's SDK takes these bytes" in str(found)
    assert "the POST's body needs their base64 text" in str(inspect(b64decode(text(OUTPUT))))


def test_where_a_value_was_cut_or_its_json_breaks_is_said():
    value = text(GET)
    (wrong,) = inspect(value[:80]).wrong
    assert (wrong.layer, wrong.at) == ("cut", 81)
    (wrong,) = inspect(b64encode(b'{"brand": "a", oops}').decode()).wrong
    assert (wrong.layer, wrong.at) == ("not-json", 15 * 4 // 3 + 1)
    assert inspect(b64encode(b"no JSON").decode()).wrong[0].at == 0


RAW = json.dumps(GET).encode()
VALUE = text(GET)
CARRIED = {
    "cut": [*(VALUE[:-n] for n in (5, 6, 7, 8, 100)), VALUE[8:], VALUE[3:], VALUE[:60] + "...", VALUE[:60] + "…",
            VALUE[:100] + "[truncated]", json.dumps({"sdkInput": VALUE})[:100], RAW[:70].decode()],
    "hexadecimal": [RAW.hex(), RAW.hex().upper(), VALUE.encode().hex(), "0x" + RAW.hex(), RAW.hex(":"), RAW.hex(" "),
                    json.dumps({"sdkInput": RAW.hex()})],
    "byte-order-mark": ["\ufeff" + VALUE, b"\xef\xbb\xbf" + VALUE.encode(), VALUE.encode("utf-16"),
                        "\ufeff" + json.dumps({"sdkInput": VALUE}), b64encode(b"\xef\xbb\xbf" + RAW).decode()],
    "blanks": [VALUE + " ", " " + VALUE, VALUE + "\t", VALUE + "\u00a0", VALUE + "\n\n",
               json.dumps({"sdkInput": VALUE + "\n"})],
    "printed": [f'Optional("{VALUE}")', f"Optional[{VALUE}]", f"b'{VALUE}'"],
    "alphabet": [text(GET | {"x": "y"}).replace("=", "%3D"), VALUE[:40] + " " + VALUE[40:]],
}  # fmt: skip
"""What files, logs and forms do to a good value, by the one layer that names it."""


@rows(("layer", "value"), [(layer, value) for layer, values in CARRIED.items() for value in values])
def test_what_was_done_to_a_value_on_its_way_is_named_as_what_it_is(layer, value):
    found = inspect(value)
    assert [one.layer for one in found.wrong] == [layer]
    assert not found.is_good
    if layer != "cut":
        assert found.kind.startswith("the GET's sdkInput")


@pytest.mark.parametrize("content", [GET, OUTPUT, ANSWER, GET | {"x": "a b, c; {}"}, {**GET, "x": [1, {"y": "}"}]}])
def test_a_good_value_is_called_neither_cut_nor_two(content):
    for value in (text(content), text(content) + "\r\n", json.dumps({"sdkInput": text(content), "other": [1]})):
        assert inspect(value).wrong == ()
    wrapped = inspect(damaged(text(content), "wrapped into lines"))
    assert [one.layer for one in wrapped.wrong] == ["line-breaks"]


def test_what_the_simulator_made_is_called_by_its_use():
    kinds = [inspect(Seal(7).close(content, "PI1", 1)).kind for content in Content]
    assert kinds == ["a GET's sdkInput of the simulator", "an sdkOutput of the simulator",
                     "a POST's sdkInput of the simulator"]  # fmt: skip


def test_a_line_end_between_two_encodings_hides_none_of_them():
    found = inspect(b64encode(text(GET).encode() + b"\n"))
    assert [one.layer for one in found.wrong] == ["encoded-twice"]
    assert found.kind.startswith("the GET's sdkInput")


@pytest.mark.rule("REL-3")
def test_no_value_is_shown_unless_it_is_asked_for_and_no_card_data():
    shown = str(inspect(text(GET)))
    assert not any(value in shown for value in ("ANN", "4242", "PI3222722322935MDMZ9J83KH", "scheme-1"))
    more = str(inspect(text(GET), show=True))
    assert '["wallet-a", "wallet-b"]' in more
    assert not any(value in more for value in ("ANN", "4242", "PI3222722322935MDMZ9J83KH"))


@pytest.mark.parametrize("junk", [b"\xff\xfe\x00junk" * 20, b"[" * 200_000, b'{"a":' * 100_000, b"hello", b"=" * 999])
def test_junk_is_no_known_structure(junk):
    found = inspect(junk)
    assert (found.kind, found.takes) == (UNKNOWN_KIND, "")
    assert found.wrong


def test_what_is_empty_or_too_large_is_refused():
    for value, says in (("\n", "^The value is empty"), ("A" * (LARGEST_VALUE + 1), "larger than 1 MiB")):
        with pytest.raises(ParameterError, match=says):
            inspect(value)


@given(
    st.one_of(st.binary(min_size=1, max_size=200), st.text(alphabet="A1+/=-_ \"'\\{}[]:,n\n", min_size=1, max_size=80))
)
def test_whatever_it_is_the_answer_is_a_sentence(value):
    try:
        assert "what it is" in str(inspect(value))
    except ParameterError as error:
        assert "empty" in str(error)  # noqa: PT017 - only a line break is empty


def test_the_command_reads_a_file_and_says_what_it_is(tmp_path, capsys):
    file = tmp_path / "value"
    file.write_text(text(GET))
    assert main(["inspect", str(file)]) == 0
    assert "the GET's sdkInput" in capsys.readouterr().out
    file.write_text(damaged(text(GET), "encoded twice"))
    assert main(["inspect", str(file)]) == 1
    assert "Encode once only." in capsys.readouterr().out
    assert main(["inspect", str(tmp_path / "none")]) == 2
    assert "pipe the value" in capsys.readouterr().err


def test_the_help_lists_the_exit_code_of_a_value_that_is_not_judged(tmp_path, capsys):
    file = tmp_path / "value"
    for content in (b"", b"A" * (LARGEST_VALUE + 1)):
        file.write_bytes(content)
        assert main(["inspect", str(file)]) == 2
    capsys.readouterr()
    assert main(["inspect", "--help"]) == 0
    assert "2    the value is empty, larger than 1 MiB, or cannot be read" in capsys.readouterr().out


def test_the_seal_of_simulated_data_tells_whether_it_was_changed(tmp_path, capsys):
    assert main(["sdk-output"]) == 0
    file = tmp_path / "output"
    file.write_text(capsys.readouterr().out)
    assert main(["inspect", str(file)]) == 0
    assert "seal         made by the simulator, and not changed since" in capsys.readouterr().out
    assert main(["inspect", str(file), "--seed", "8"]) == 1
    assert "wrong seal   its seal is broken" in capsys.readouterr().out


@pytest.mark.rule("REL-3")
def test_of_other_data_of_platform_b_no_value_is_shown():
    content = {"activationData": "QUJD", "encryptedPassData": "QUJDRA==", "ephemeralPublicKey": "a2V5IG9uIFAtMjU2"}
    found = inspect(text(content), show=True)
    assert found.is_good
    assert not any(value in str(found) for value in content.values())


def test_a_card_number_is_shown_neither_as_a_name_nor_as_a_value():
    number = "4000 0566-5566 5556"
    value = b64encode(
        json.dumps({"brand": number, "supportedWallets": [number], number: 1, "lastFour": "5556"}).encode()
    )
    shown = str(inspect(value, show=True))
    assert number not in shown
    assert "[card number?]: a number" in shown
    assert 'brand: "[card number?]"' in shown
    far = b64encode(json.dumps({"brand": "x" * 185 + number, "y" * 26 + number: 1}).encode())
    assert "4000" not in str(inspect(far, show=True))


@pytest.mark.rule("API-7", "API-8", "A-CREATE-1", "B-INIT-1")
@pytest.mark.parametrize("form", ["text", "bytes"])
def test_who_takes_a_value_is_the_platform_whose_sdk_takes_it(form):
    """Each clause names a platform and a form of the value: that platform's stand-in takes this form and no other."""
    seal = Seal(7)
    sealed = seal.close(Content.ACTIVATION, "PI1", 1, supportedWallets=("wallet-a", "wallet-b"))
    forms = {"text": sealed, "bytes": b64decode(sealed)}
    takes = {
        "A": lambda value: SdkA(PhoneA(), seal, A_FROM_0_4_0.facts).answer(m.CreateProvisioning(value))[1],
        "B": lambda value: SdkB(PhoneB(), later=True).answer(m.CreateService(value))[1],
    }
    (line,) = [line for line in str(inspect(forms[form])).splitlines() if line.startswith("who takes it")]
    other = "bytes" if form == "text" else "text"
    named = {}
    for platform, how in re.findall(r"platform ([AB])(.*?)(?=;|$)", line.partition(" (")[0]):
        named[platform] = other if re.search("decoded bytes|base64 text", how) else form
    assert set(named) == {"A", "B"}
    for platform, wanted in named.items():
        answers = {one: type(takes[platform](value)).__name__ for one, value in forms.items()}
        assert [one for one, name in answers.items() if name in {"CreateSuccess", "ServiceReady"}] == [wanted], answers


def test_the_layers_lie_in_one_another_and_only_the_wrong_ones_are_marked():
    value = text(GET)
    found = inspect(json.dumps({"sdkInput": json.dumps(value)}))
    assert [(words.partition(":")[0], wrong) for words, wrong in found.layers] == [
        ("JSON body, field sdkInput", False),
        ("quoted", True),
        ("base64", False),
        ("the GET's sdkInput (sdk-a, sdk-b)", False),
    ]
    assert [wrong for _words, wrong in inspect(value).layers] == [False, False]
    assert inspect(b"no such thing").layers[-1] == (UNKNOWN_KIND, True)
    html = wb.inspect(json.dumps(value)).snapshot().html()
    assert html.count("border:3px") == 1
    assert html.index("quoted") < html.index("base64") < html.index("sdk-a") < html.index("paymentInstrumentId: text")
