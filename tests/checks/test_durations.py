import importlib.util
import re
from math import nan
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rows import rows

from workbook.checks import durations
from workbook.checks.durations import LimitVerdict, judge, judge_durations, percent, read_durations, span
from workbook.errors import ConfigurationError, ParameterError
from workbook.flows.messages import LIMITS, LITTLE_LEFT

FIXTURES = Path(__file__).parents[2] / "fixtures" / "measurements"
PAGE = Path(__file__).parents[2] / "notebooks/reference/timing.md"
HEAD = "call,duration_ms,device,build,cold"
ROW = "status,12.5,Phone A,0042,true"
OBJECT = {"call": "status", "duration_ms": 12.5, "device": "Phone A", "build": "0042", "cold": True}


@pytest.fixture
def file(tmp_path):
    """Writes a file and gives its path."""

    def write(text):
        path = tmp_path / "calls.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def refused(path):
    with pytest.raises((ParameterError, ConfigurationError)) as caught:
        read_durations(path)
    return str(caught.value)


def test_a_csv_file_becomes_a_frame(file):
    frame = read_durations(file(f"{HEAD}\n{ROW}\npass_entries,2e3,Phone B,7,No\n"))
    assert frame.to_dict("records") == [
        OBJECT,
        {"call": "pass_entries", "duration_ms": 2000.0, "device": "Phone B", "build": "7", "cold": False},
    ]


def test_leading_zeros_stay_and_other_columns_are_left_out(file):
    frame = read_durations(file(f"os,{HEAD},note\n17,{ROW},x\n"))
    assert frame["build"].tolist() == ["0042"]
    assert list(frame) == HEAD.split(",")


def test_what_spreadsheets_do_is_understood(file):
    frame = read_durations(file(f'\ufeff{HEAD.replace(",", " , ")}\r\n\r\n status , 12.5 ,"Phone, A",0042, TRUE \r\n'))
    assert frame.to_dict("records") == [OBJECT | {"device": "Phone, A"}]


@rows(("cell", "flag"), [("true", True), ("1", True), ("Yes", True), ("FALSE", False), ("0", False), ("no", False)])
def test_a_flag_may_be_written_in_six_ways(file, cell, flag):
    assert read_durations(file(f"{HEAD}\nstatus,1,A,1,{cell}\n"))["cold"].tolist() == [flag]


@rows(("text", "told"), [
        ("", "has the column call 0 times; it needs one. The columns are call, duration_ms, device, build, cold,"),
        ("\n\n", "has the column call 0 times"),
        (f"{HEAD}\n", "holds no durations. Export at least one call."),
        ("call,duration,device,build,cold\n", "has the column duration_ms 0 times; it needs one."),
        (f"{HEAD},cold\n", "has the column cold 2 times; it needs one."),
        (HEAD.replace(",", ";"), "has the column call 0 times"),
        (f"{HEAD}\n{ROW}\nstatus,1,A,1\n", "row 3 has 4 cells, and there are 5 columns. Put a cell"),
        (f"{HEAD}\n\n{ROW},\n", "row 3 has 6 cells"),
        (f'{HEAD}\n"a"b,1\n', "row 2 is no CSV ("),
        (f'{HEAD}\n{ROW}\n"status', "row 3 is no CSV ("),
        (f"{HEAD}\n" + "x" * 140_000, "row 2 is no CSV (field larger than field limit"),
        (f"{HEAD}\n{ROW}".encode("utf-16"), "not UTF-8. Save it as UTF-8"),
        (f"{HEAD}\nstatsu,1,A,1,1", "row 2, column call is 'statsu'. Did you mean 'status'?"),
        (f"{HEAD}\n,1,A,1,1", "row 2, column call is ''. Known: "),
        (f"{HEAD}\nstatus,87 ms,A,1,1", "row 2, column duration_ms is '87 ms'. Give milliseconds, a finite number of"),
        (f"{HEAD}\nstatus,,A,1,1", "row 2, column duration_ms is ''."),
        (f"{HEAD}\nstatus,-1,A,1,1", "row 2, column duration_ms is '-1'."),
        (f"{HEAD}\nstatus,nan,A,1,1", "row 2, column duration_ms is 'nan'."),
        (f"{HEAD}\nstatus,1e999,A,1,1", "row 2, column duration_ms is '1e999'."),
        (f"{HEAD}\nstatus,1_000,A,1,1", "row 2, column duration_ms is '1_000'."),
        (f"{HEAD}\nstatus,\u0661,A,1,1", "row 2, column duration_ms is '\u0661'."),
        (f'{HEAD}\nstatus,"1,5",A,1,1', "row 2, column duration_ms is '1,5'."),
        (f"{HEAD}\nstatus,1, ,1,1", "row 2, column device is ' '. Give a name as text of printable characters"),
        (f"{HEAD}\nstatus,1,A,\x1b[2J,1", r"row 2, column build is '\x1b[2J'."),
        (f"{HEAD}\nstatus,1,A,1,maybe", "row 2, column cold is 'maybe'. Give one of true, 1, yes, false, 0, no."),
    ])  # fmt: skip
def test_what_is_wrong_with_a_file_is_said_with_its_row_and_column(file, text, told):
    assert refused(file(text)).startswith(f"calls.csv: {told}")


def test_what_is_wrong_with_the_path_is_said(tmp_path, file, monkeypatch):
    assert "No such file or directory. Name a CSV file" in refused(tmp_path / "none.csv")
    assert "it is not a regular file" in refused(tmp_path)
    assert refused(None) == "path is None; allowed: the path of a CSV file."
    assert "No such file" in refused("a\x00.csv")
    monkeypatch.setattr(durations, "MOST_RECORDED", 1 << 20)
    assert "is larger than 1,048,576 bytes" in refused(file(b"x" * ((1 << 20) + 1)))


CELLS = st.sampled_from(["status", "1", "true", "\n", ",", '"', "\r", "\x00", ";", HEAD, ROW, "nan", "\ufeff", "é"])
MANGLED = st.lists(CELLS, max_size=30).map("".join).map(str.encode)


@given(st.binary() | MANGLED)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_read_or_refused_by_one_of_our_errors(tmp_path, content):
    (tmp_path / "f.csv").write_bytes(content)
    try:
        frame = read_durations(tmp_path / "f.csv")
    except ParameterError as error:
        assert "f.csv" in str(error)  # noqa: PT017  # either outcome is right, anything else is not
    else:
        assert judge(frame)


def test_each_call_build_device_and_start_is_judged_by_itself(file):
    rows = ["status,150,B,2,true", *2 * ["status,20,A,1,false", "pass_entries,500,A,1,true"], "status,30,A,1,true"]
    judged = judge(read_durations(file("\n".join([HEAD, *rows]))))
    assert [(one.limit.call, one.label, str(one.verdict)) for one in judged] == [
        ("pass_entries", "build 1 on A, cold", "pass"),
        ("status", "build 1 on A, warm", "pass"),
        ("status", "build 1 on A, cold", "warn"),
        ("status", "build 2 on B, cold", "fail"),
    ]


@pytest.mark.rule("X-STATUS-3", "X-ENTRIES-3")
@rows("call", ["status", "pass_entries", "remote_pass_entries"])
def test_exactly_the_limit_is_in_time_and_a_little_more_is_not(file, call):
    milliseconds = round(LIMITS[call].seconds * 1000)
    (judged,) = judge(read_durations(file(f"{HEAD}\n{call},{milliseconds},A,1,1\n{call},{milliseconds}.001,A,1,1\n")))
    assert (judged.count, judged.over, judged.verdict) == (2, 1, LimitVerdict.FAIL)


def test_a_frame_of_ones_own_needs_the_same_columns_and_calls():
    frame = pd.DataFrame([OBJECT])
    assert len(judge(frame)) == 1
    with pytest.raises(ParameterError, match="the frame: has the column build 0 times"):
        judge(frame.drop(columns="build"))
    with pytest.raises(ParameterError, match="Did you mean 'status'"):
        judge(frame.assign(call="statsu"))
    for wrong in (-1.0, nan):
        with pytest.raises(ParameterError, match=r"duration_ms is .* Give a finite number of 0 or more, in millise"):
            judge(frame.assign(duration_ms=wrong))


@rows(
    ("seconds", "verdict"),
    [
        ([0.0799], "warn"),
        ([0.0799, 0.01], "pass"),
        ([0.08, 0.01], "warn"),
        ([0.1, 0.1], "warn"),
        ([0.2], "fail"),
        ([0.01] * 999 + [0.2], "warn"),
        ([0.01] * 998 + [0.2], "fail"),
    ],
)
def test_the_verdict(seconds, verdict):
    assert judge_durations(seconds, "status", "").verdict == verdict


@given(st.lists(st.floats(0, 1000), min_size=1, max_size=200), st.sampled_from(sorted(LIMITS)))
def test_a_judgement_agrees_with_its_durations(seconds, call):
    judged = judge_durations(seconds, call, "a build")
    low, high = judged.interval
    assert 0 <= low <= judged.over / judged.count <= high <= 1
    assert judged.percentile(50) <= judged.percentile(99) <= judged.percentile(100) == max(seconds)
    assert max(map(len, judged.text.splitlines())) <= 110
    order = [*LimitVerdict]
    slower = judge_durations([each * 2 for each in seconds], call, "a build")
    assert order.index(judged.verdict) <= order.index(slower.verdict) or judged.count == 1


@rows(
    ("over", "count", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),  # Newcombe 1998, table I, method 3
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (29, 29, 0.8830, 1.0000),
    ],
)
def test_the_interval_has_the_published_values(over, count, low, high):
    judged = judge_durations([0.2] * over + [0.01] * (count - over), "status", "")
    assert judged.interval == pytest.approx((low, high), abs=0.00005)


def test_none_over_says_what_cannot_be_excluded():
    assert judge_durations([0.01] * 50, "status", "").finding == (
        "none of 50 over 100 ms; up to 7.1 % cannot be excluded (0.1 % takes 3,838 calls with none over)"
    )
    page = " ".join(PAGE.read_text("utf-8").split())
    forty = judge_durations([0.01] * 40, "status", "")
    assert f"If none of 40 calls was late, up to {percent(forty.interval[1])} may still be." in page
    assert "at most one call in a thousand is late takes 3,838 calls" in page
    said = {verdict: re.search(rf"\| {verdict} \| (.*?) \|", page)[1] for verdict in LimitVerdict}
    assert (said[LimitVerdict.FAIL], durations.TARGET) == ("more than one call in a thousand was over the limit", 0.001)
    assert f"the slowest call used {LITTLE_LEFT:.0%} of the limit or more".replace("%", " %") in said[LimitVerdict.WARN]
    assert (said[LimitVerdict.PASS], "too few to tell" in said[LimitVerdict.WARN]) == ("neither", True)
    enough = judge_durations([0.01] * 3838, "status", "")
    assert enough.finding.endswith("up to 0.1 % cannot be excluded")
    assert enough.interval[1] <= 0.001 < judge_durations([0.01] * 3837, "status", "").interval[1]


def test_the_plan_of_the_page_prints_what_stands_below_it(capsys):
    ((plan, printed),) = re.findall(
        r"```python\n(from math.*?)```\n\n```text\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL
    )
    exec(plan, {})  # a program of our own page
    assert capsys.readouterr().out == printed


def test_a_judgement_in_words():
    judged = judge_durations([0.01] * 197 + [0.2] * 3, "status", "build 0042, cold")
    assert repr(judged).splitlines() == [
        "FAIL  status, build 0042, cold: 3 of 200 over 100 ms: 1.5 % (0.51 % to 4.3 % with 95 % confidence)",
        "      median 10 ms, 99th percentile 200 ms, worst 200 ms; X-STATUS-3 (spec)",
        "      missed means: the app is not listed in the wallet (wallet)",
        "      Read the sdkInput that the app put into secure storage (X-CACHE-1), make no network call in status(),",
        "      and leave all other work to passEntries().",
    ]
    assert "little room: the worst used 81 % of the limit" in judge_durations([0.05, 0.081], "status", "").text
    assert judge_durations([0.05], "status", "").text.endswith("one call is too few to tell: measure more")
    assert judge_durations([0.5, 0.6], "provision", "").text.endswith("worst 600 ms; B-DEL-3 (wallet)")
    assert "little room" not in judge_durations([1.0] * 9999 + [25.0], "provision", "").text


def test_each_limited_call_has_its_advice():
    assert set(durations.ADVICE) == set(LIMITS)


def test_durations_and_shares_in_words():
    assert [span(each) for each in (0.0, 0.0000123, 0.01234, 0.9994, 0.99951, 20.0, 12345.0)] == [
        "0 ms", "0.0123 ms", "12.3 ms", "999 ms", "1 s", "20 s", "12,300 s"
    ]  # fmt: skip
    assert [percent(each) for each in (0, 0.071122, 0.63, 0.998, 1, 1.2, 3.7e-6)] == [
        "0 %", "7.1 %", "63 %", "99.8 %", "100 %", "120 %", "0.00037 %"
    ]  # fmt: skip


def test_the_good_build_passes_and_the_one_with_a_network_call_fails():
    good = judge(read_durations(FIXTURES / "good_build.csv"))
    network = judge(read_durations(FIXTURES / "network_in_status.csv"))
    assert {one.verdict for one in good} == {LimitVerdict.PASS}
    assert {one.verdict for one in network if one.limit.call == "status"} == {LimitVerdict.FAIL}
    assert {one.verdict for one in network if one.limit.call != "status"} == {LimitVerdict.PASS}


def test_the_broken_one_is_refused_at_its_first_mistake():
    assert refused(FIXTURES / "broken.csv").startswith("broken.csv: row 3, column duration_ms is '87 ms'. Give")


def test_the_recordings_are_what_their_maker_makes():
    spec = importlib.util.spec_from_file_location("make", FIXTURES / "make.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    for name, text in make.files().items():
        assert (FIXTURES / name).read_bytes() == text.encode()
    assert {path.name for path in FIXTURES.iterdir() if path.is_file()} == {*make.files(), "README.md", "make.py"}
