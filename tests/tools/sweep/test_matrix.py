"""The matrix: which combinations a file names, in which order, and what it refuses."""

import sys

import pytest

from workbook.base.forms import BadConfigurationError
from workbook.errors import ParameterError
from workbook.flows.variants import VARIANTS_B
from workbook.play.platform_b import APPS_B
from workbook.tools.sweep.matrix import DIMENSIONS, from_spec, imported, ordinary, read_matrix, spec


@pytest.fixture
def matrix(tmp_path):
    def made(text, **options):
        path = tmp_path / "matrix.toml"
        path.write_text(text)
        return read_matrix(path, **options)

    return made


def combinations(made):
    return [made.combination(number) for number in made.numbers()]


def test_each_platform_takes_what_it_knows(matrix):
    made = matrix('phone = ["ready", "with a watch"]')
    found = [(each["platform"], each["phone"]) for each in combinations(made)]
    assert found == [("a", "ready"), ("b", "ready"), ("b", "with a watch"), ("wallet", "with a watch")]


def test_all_takes_every_value(matrix):
    found = combinations(matrix('platform = ["wallet"]\nhandler = "all"'))
    assert [each["handler"] for each in found] == [*DIMENSIONS["handler"]["wallet"]]


def test_no_fault_comes_once_and_a_harmless_one_has_no_moment(matrix):
    made = matrix(
        'platform = ["a"]\nfault = ["200", "latency", "reset"]\noperation = "all"\nmoment = ["before", "after"]'
    )
    found = [f"{each['fault']} {each['operation']} {each['moment']}" for each in combinations(made)]
    assert found == [
        "200 GET before",
        "latency GET before",
        "latency POST before",
        *(f"reset {operation} {moment}" for operation in ("GET", "POST") for moment in ("before", "after")),
    ]


def test_conditions_prune(matrix):
    made = matrix('platform = ["a"]\nseeds = 3\nvariant = "all"\n[[without]]\nvariant = "before-0.4.0"\nseed = "not 1"')
    found = [(each["variant"], each["seed"]) for each in combinations(made)]
    assert found == [("from-0.4.0", "1"), ("from-0.4.0", "2"), ("from-0.4.0", "3"), ("before-0.4.0", "1")]


def test_a_latency_is_any_number_of_seconds(matrix):
    found = combinations(matrix('platform = ["wallet"]\nlatency = ["usual", 3, 0.25]\n[[without]]\nlatency = "not 3"'))
    assert [each["latency"] for each in found] == ["3"]
    assert from_spec("platform=wallet latency=0.25")["latency"] == "0.25"


def test_the_earlier_variant_has_no_app_that_is_about_a_watch(matrix):
    found = combinations(matrix('platform = ["b"]\nvariant = "all"\napp = "all"'))
    about_watches = {name for name, mistake in APPS_B.items() if {"calls", "keeps_watch_availability"} & {*mistake}}
    assert about_watches
    later, earlier = ({c["app"] for c in found if c["variant"] == variant} for variant in VARIANTS_B)
    assert later ^ earlier == about_watches


def test_the_current_folder_is_searched_after_all_others(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["elsewhere", *filter(None, sys.path)])
    (tmp_path / "found_here.py").write_text("code = 5")
    (tmp_path / "sched.py").write_text("raise SystemExit")
    assert imported("app", "found_here:code") == 5
    assert imported("app", "sched:scheduler")
    assert sys.path[-1] == ""


def test_a_limit_takes_different_ones_of_everywhere(matrix):
    text = "seeds = 1000\nplatform = ['a']\nvariant = 'all'\ntaps = [1, 2]"
    everything, some = matrix(text), matrix(text, limit=200)
    numbers = [*some.numbers()]
    assert len({*numbers}) == 200
    assert {*numbers} <= {*everything.numbers()}
    assert len({each["variant"] + each["taps"] for each in combinations(some)}) == 4
    assert some.digest != everything.digest


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("phnoe = 'all'", "phnoe: there is no such key. Did you mean 'phone'?"),
        ("fault = ['503 that says 501']", "fault: it cannot be '503 that says 501'. Did you mean '503 that"),
        ("fault = []", 'fault: it is a value of type list; give "all", or a list of values, each once.'),
        ("seeds = 0", "seeds: it is 0; give how many seeds"),
        ("[[without]]\nfualt = '200'", "[[without]] 1 fualt: there is no such dimension. Did you mean 'fault'?"),
        ("[[without]]\nphone = 'redy'", "it names 'redy'. Did you mean 'ready'?"),
        ("latency = ['slow']", "latency: it cannot be 'slow'. Known: usual."),
        ("= 3", "it is not TOML"),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_their_place(matrix, text, said):
    with pytest.raises(BadConfigurationError) as raised:
        matrix(text)
    assert said in str(raised.value)


def test_a_matrix_that_leaves_all_out_is_refused(matrix):
    with pytest.raises(ParameterError, match="leaves all of its 3 combinations out"):
        matrix("[[without]]\nfault = '200'")


@pytest.mark.slow
def test_too_many_are_counted_and_refused_and_a_limit_takes_a_part(matrix):
    text = "seeds = 1000000\nfault = 'all'\nphone = 'all'\ncard = 'all'\nback_end = 'all'\nmoment = 'all'"
    with pytest.raises(ParameterError, match=r"has \d{1,3}(,\d{3}){3,} combinations.*--limit 100000"):
        matrix(text)
    assert len([*matrix(text, limit=500).numbers()]) == 500


def test_a_limit_counts_what_is_played(matrix):
    assert len([*read_matrix(None, limit=30).numbers()]) == 30
    text = "platform = ['a']\nfault = ['200', 'reset']\noperation = ['GET', 'POST']\nmoment = ['before', 'after']"
    everything = {*matrix(text).numbers()}
    assert len(everything) < matrix(text).product
    assert {*matrix(text, limit=matrix(text).product - 1).numbers()} == everything


def test_code_that_cannot_be_imported_is_told():
    with pytest.raises(ParameterError, match=r"--app 'no_such_module:f' cannot be imported \(ModuleNotFoundError"):
        read_matrix(None, app="no_such_module:f")


@pytest.mark.parametrize("platform", ["a", "b", "wallet"])
def test_a_line_says_a_combination(platform):
    assert spec(ordinary(platform)) == f"platform={platform}"
    for name, values in DIMENSIONS.items():
        for value in values.get(platform, ()):
            combination = ordinary(platform) | {name: value}
            assert from_spec(spec(combination)) == combination
    assert from_spec(f"platform={platform} latency=1.5 seed=12")["latency"] == "1.5"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "needs a platform"),
        ("platform=c", "needs a platform"),
        ("platform=a fualt=reset", "Did you mean 'fault'?"),
        ("platform=a fault=rest", "Did you mean 'reset'?"),
        ("platform=a handler=reference", "handler is 'reference'"),
        ("platform=a latency=soon", "seconds, such as"),
        ("platform=a fault='reset", "no combination"),
    ],
)
def test_a_line_with_a_mistake_is_refused(line, said):
    with pytest.raises(ParameterError, match=said):
        from_spec(line)
