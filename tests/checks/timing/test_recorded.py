import importlib.util
import json
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rows import rows

from workbook.checks.timing import recorded
from workbook.checks.timing.recorded import judge, read_durations
from workbook.checks.timing.verdict import LimitVerdict
from workbook.errors import ParameterError

FIXTURES = Path(__file__).parents[3] / "fixtures" / "measurements"
HEAD = "call,duration_ms,device,build,cold"
ROW = "status,12.5,Phone A,0042,true"
OBJECT = {"call": "status", "duration_ms": 12.5, "device": "Phone A", "build": "0042", "cold": True}


@pytest.fixture
def file(tmp_path):
    """Writes a file of this name and gives its path."""

    def write(text, name="calls.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def refused(path):
    with pytest.raises(ParameterError) as caught:
        read_durations(path)
    return str(caught.value)


def test_a_csv_file_becomes_a_frame(file):
    frame = read_durations(file(f"{HEAD}\n{ROW}\npass_entries,2e3,Phone B,7,No\n"))
    assert frame.to_dict("records") == [
        OBJECT,
        {"call": "pass_entries", "duration_ms": 2000.0, "device": "Phone B", "build": "7", "cold": False},
    ]
    assert frame.attrs == {"left_out": []}


def test_leading_zeros_stay_and_other_columns_are_left_out_by_name(file):
    frame = read_durations(file(f"os,{HEAD},note\n17,{ROW},x\n"))
    assert frame["build"].tolist() == ["0042"]
    assert list(frame) == HEAD.split(",")
    assert frame.attrs == {"left_out": ["note", "os"]}


def test_a_json_file_becomes_the_same_frame(file):
    frame = read_durations(file(json.dumps([OBJECT, OBJECT | {"os": "17"}]), "calls.JSON"))
    assert frame.to_dict("records") == [OBJECT, OBJECT]
    assert frame.attrs == {"left_out": ["os"]}


def test_what_spreadsheets_do_is_understood(file):
    frame = read_durations(file(f'\ufeff{HEAD.replace(",", " , ")}\r\n\r\n status , 12.5 ,"Phone, A",0042, TRUE \r\n'))
    assert frame.to_dict("records") == [OBJECT | {"device": "Phone, A"}]


@pytest.mark.parametrize(
    ("cell", "flag"),
    [("true", True), ("1", True), ("Yes", True), ("FALSE", False), ("0", False), ("no", False)],
)
def test_a_flag_may_be_written_in_six_ways(file, cell, flag):
    assert read_durations(file(f"{HEAD}\nstatus,1,A,1,{cell}\n"))["cold"].tolist() == [flag]
    assert read_durations(file(json.dumps([OBJECT | {"cold": int(flag)}]), "c.json"))["cold"].tolist() == [flag]


@rows(("text", "told"), [
        ("", "calls.csv: is empty. Give the columns call, duration_ms, device, build, cold and one row for each call."),
        ("\n\n", "calls.csv: is empty."),
        (f"{HEAD}\n", "calls.csv: holds no durations. Export at least one call."),
        (f"{HEAD}\n\n\n", "calls.csv: holds no durations."),
        ("call,duration,device,build,cold\n", "calls.csv: the column duration_ms is missing. Did you mean 'duration'?"),
        ("call,device,build,cold\n", "calls.csv: the column duration_ms is missing. There is no other."),
        (f"{HEAD},cold\n", "calls.csv: the column cold occurs 2 times. Keep one."),
        (HEAD.replace(",", ";"), "calls.csv: its columns are separated by semicolons. Export it with commas."),
        (f"{HEAD}\n{ROW}\nstatus,1,A,1\n", "calls.csv: row 3 has 4 cells, and there are 5 columns. Put a cell"),
        (f"{HEAD}\n\n{ROW},\n", "calls.csv: row 3 has 6 cells"),
        (f'{HEAD}\n"a"b,1\n', "calls.csv: row 2 is no CSV ("),
        (f'{HEAD}\n{ROW}\n"status', "calls.csv: row 3 is no CSV ("),
        (f"{HEAD}\n" + "x" * 140_000, "calls.csv: row 2 is no CSV (field larger than field limit"),
        (f"{HEAD}\n{ROW}".encode("utf-16"), "calls.csv: not UTF-8 text in row 1 (byte 1). Save it as UTF-8"),
        (f"{HEAD}\nstatus,1,Caf\xe9,1,1".encode("latin-1"), "calls.csv: not UTF-8 text in row 2 (byte 48)."),
    ])  # fmt: skip
def test_what_is_wrong_with_a_csv_file_is_said_with_its_row(file, text, told):
    assert refused(file(text)).startswith(told)


@rows(
    ("row", "told"),
    [
        ("statsu,1,A,1,1", "row 2, column call is 'statsu'. Did you mean 'status'?"),
        (",1,A,1,1", "row 2, column call is ''. Known: "),
        ("status,87 ms,A,1,1", "row 2, column duration_ms is '87 ms'. Give milliseconds, a finite number of 0 or more"),
        ("status,,A,1,1", "row 2, column duration_ms is ''."),
        ("status,-1,A,1,1", "row 2, column duration_ms is '-1'."),
        ("status,nan,A,1,1", "row 2, column duration_ms is 'nan'."),
        ("status,inf,A,1,1", "row 2, column duration_ms is 'inf'."),
        ("status,1e999,A,1,1", "row 2, column duration_ms is '1e999'."),
        ("status,1_000,A,1,1", "row 2, column duration_ms is '1_000'."),
        ("status,\u0661,A,1,1", "row 2, column duration_ms is '\u0661'."),
        ('status,"1,5",A,1,1', "row 2, column duration_ms is '1,5'."),
        ("status,1, ,1,1", "row 2, column device is ' '. Give a name as text of printable characters"),
        ("status,1,A,\x1b[2J,1", r"row 2, column build is '\x1b[2J'."),
        ("status,1,A,1,maybe", "row 2, column cold is 'maybe'. Give one of true, 1, yes, false, 0, no."),
    ],
)
def test_what_is_wrong_with_a_cell_is_said_with_its_row_and_column(file, row, told):
    assert refused(file(f"{HEAD}\n{row}\n")).startswith(f"calls.csv: {told}")


@rows(
    ("text", "told"),
    [
        ("", "c.json: is no JSON ("),
        ("[" * 100_000, "c.json: is no JSON ("),
        ("[" + "9" * 5000 + "]", "c.json: is no JSON ("),
        ('[{"call": 1, "call": 2}]', "c.json: is no JSON (an object names a key twice). Give a list of objects."),
        ("{}", 'c.json: is no list of objects. Give [{"call": "status", …}, …].'),
        ("[1]", "c.json: is no list of objects."),
        ("[]", "c.json: holds no durations."),
        (json.dumps([OBJECT, {"call": "status"}]), "c.json: object 2: the column duration_ms is missing."),
        (json.dumps([OBJECT | {"build": 42}]), "c.json: object 1, column build is 42. Give a name as text"),
        (json.dumps([OBJECT | {"duration_ms": True}]), "c.json: object 1, column duration_ms is True."),
        (json.dumps([OBJECT | {"duration_ms": None}]), "c.json: object 1, column duration_ms is None."),
        (json.dumps([OBJECT | {"duration_ms": 10**400}]), "c.json: object 1, column duration_ms is a whole number of "),
        (json.dumps([OBJECT | {"duration_ms": float("nan")}]), "c.json: object 1, column duration_ms is nan."),
        (json.dumps([OBJECT | {"cold": None}]), "c.json: object 1, column cold is None."),
        (json.dumps([OBJECT | {"cold": 0.0}]), "c.json: object 1, column cold is 0.0."),
        (json.dumps([OBJECT | {"call": ["status"]}]), "c.json: object 1, column call is a value of type list."),
    ],
)
def test_what_is_wrong_with_a_json_file_is_said_with_its_object(file, text, told):
    assert refused(file(text, "c.json")).startswith(told)


def test_what_is_wrong_with_the_path_is_said(tmp_path, file):
    assert (
        refused(tmp_path / "none.csv")
        == "none.csv: cannot be read (No such file or directory). Give the path of a file."
    )
    assert "cannot be read (Is a directory)" in refused(tmp_path)
    assert (
        refused(file(HEAD, "calls.xlsx"))
        == "calls.xlsx: cannot tell its format. Give a file that ends in .csv or .json."
    )
    assert refused(None).startswith("None: cannot be read (that is no path).")
    assert "cannot be read (that is no path)" in refused("a\x00.csv")


def test_a_file_beyond_the_bound_is_refused(file, monkeypatch):
    monkeypatch.setattr(recorded, "MOST_RECORDED", 1 << 20)
    assert refused(file(b"x" * ((1 << 20) + 1))) == "calls.csv: larger than 1 MiB. Export fewer calls, or split it."


CELLS = st.sampled_from(["status", "1", "true", "\n", ",", '"', "\r", "\x00", ";", HEAD, ROW, "nan", "\ufeff", "é"])
NAMES = st.sampled_from(["f.csv", "f.json"])
MANGLED = st.lists(CELLS, max_size=30).map("".join).map(str.encode)
KEYS = st.sampled_from([*HEAD.split(","), "os"])
VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists)
OBJECTS = st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys([*HEAD.split(","), "os"], VALUES)), max_size=3)


@given(NAMES, st.binary() | MANGLED | OBJECTS.map(lambda found: json.dumps(found).encode()))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_read_or_refused_by_one_of_our_errors(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    try:
        frame = read_durations(tmp_path / name)
    except ParameterError as error:
        assert name in str(error)  # noqa: PT017  # either outcome is right, anything else is not
    else:
        assert judge(frame)


def test_each_call_build_device_and_start_is_judged_by_itself(file):
    rows = ["status,150,B,2,true", *2 * ["status,20,A,1,false", "pass_entries,500,A,1,true"], "status,30,A,1,true"]
    found = judge(read_durations(file("\n".join([HEAD, *rows]))))
    assert [(one.name, str(one.verdict)) for one in found] == [
        ("pass_entries, build 1 on A, cold", "pass"),
        ("status, build 1 on A, warm", "pass"),
        ("status, build 1 on A, cold", "warn"),
        ("status, build 2 on B, cold", "fail"),
    ]


@pytest.mark.rule("X-STATUS-3")
def test_exactly_100_recorded_milliseconds_are_in_time(file):
    (found,) = judge(read_durations(file(f"{HEAD}\nstatus,100,A,1,1\nstatus,100.001,A,1,1\n")))
    assert (found.count, found.over) == (2, 1)


@pytest.mark.rule("X-ENTRIES-3")
def test_exactly_20_recorded_seconds_are_in_time(file):
    (found,) = judge(read_durations(file(f"{HEAD}\npass_entries,20000,A,1,1\npass_entries,20000.1,A,1,1\n")))
    assert (found.count, found.over) == (2, 1)


def test_a_target_of_ones_own(file):
    frame = read_durations(file(f"{HEAD}\n" + "status,10,A,1,1\n" * 9 + "status,200,A,1,1\n"))
    assert [judge(frame, target=target)[0].verdict for target in (0.05, 0.2)] == [
        LimitVerdict.FAIL,
        LimitVerdict.WARN,
    ]


def test_a_frame_of_ones_own_needs_the_same_columns_and_calls():
    frame = pd.DataFrame([OBJECT])
    assert len(judge(frame)) == 1
    with pytest.raises(ParameterError, match="the frame: the column build is missing"):
        judge(frame.drop(columns="build"))
    with pytest.raises(ParameterError, match="Did you mean 'status'"):
        judge(frame.assign(call="statsu"))
    with pytest.raises(ParameterError, match=r"Duration 1 is -0\.001"):
        judge(frame.assign(duration_ms=-1.0))


def test_the_good_build_passes_and_the_one_with_a_network_call_fails():
    good = judge(read_durations(FIXTURES / "good_build.csv"))
    network = judge(read_durations(FIXTURES / "network_in_status.csv"))
    assert {one.verdict for one in good} == {LimitVerdict.PASS}
    assert {one.verdict for one in network if one.limit.call == "status"} == {LimitVerdict.FAIL}
    assert {one.verdict for one in network if one.limit.call != "status"} == {LimitVerdict.PASS}
    assert {one.label.split()[1] for one in network} == {"0042"}


def test_the_twin_says_the_same():
    one, other = (read_durations(FIXTURES / f"network_in_status.{kind}") for kind in ("csv", "json"))
    pd.testing.assert_frame_equal(one, other)


def test_the_broken_one_is_refused_at_its_first_mistake():
    assert refused(FIXTURES / "broken.csv").startswith("broken.csv: row 3, column duration_ms is '87 ms'. Give")


def test_the_recordings_are_what_their_maker_makes():
    spec = importlib.util.spec_from_file_location("make", FIXTURES / "make.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    for name, text in make.files().items():
        assert (FIXTURES / name).read_bytes() == text.encode()
        assert text.count("\n") <= 201
    assert {path.name for path in FIXTURES.iterdir() if path.is_file()} == {*make.files(), "README.md", "make.py"}
