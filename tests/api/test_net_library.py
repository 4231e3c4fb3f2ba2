"""The client works on httpx, and on its successor."""

import os
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from workbook import api
from workbook.errors import ConfigurationError

ROOT = Path(__file__).parent.parent.parent
IMPORT = "from workbook.api.net import CHOSEN, httpcore, httpx; print(CHOSEN, httpx.__name__, httpcore.__name__)"


def chosen(library, *command):
    environ = os.environ | {"WORKBOOK_HTTP_LIBRARY": library, "HYPOTHESIS_PROFILE": "quick"}
    words = [sys.executable, *command]
    return subprocess.run(words, env=environ, cwd=ROOT, capture_output=True, text=True, check=False)


def test_httpx_is_the_library_where_nothing_is_said():
    assert chosen("", "-c", IMPORT).stdout == "httpx httpx httpcore\n"


def test_another_library_is_refused():
    assert "WORKBOOK_HTTP_LIBRARY is 'requests'. Allowed: httpx, httpx2." in chosen("requests", "-c", IMPORT).stderr


def test_a_library_that_is_not_installed_is_named():
    hidden = "import sys; sys.modules['httpcore2'] = sys.modules['httpx2'] = None; "
    assert "is not installed: pip install httpx2" in chosen("httpx2", "-c", hidden + IMPORT).stderr


def loaded(monkeypatch, library):
    """The module as another process would have it."""
    monkeypatch.setenv("WORKBOOK_HTTP_LIBRARY", library)
    monkeypatch.setattr(api, "net", api.net)  # an import binds it anew
    monkeypatch.delitem(sys.modules, api.net.__name__, raising=False)
    return import_module(api.net.__name__)


@pytest.mark.skipif(find_spec("httpx2") is None, reason="httpx2 is not installed")
def test_the_successor_is_chosen_by_the_environment(monkeypatch):
    module = loaded(monkeypatch, "httpx2")
    assert [module.httpx.__name__, module.httpcore.__name__] == ["httpx2", "httpcore2"]


def test_what_cannot_be_chosen_is_an_error_of_the_configuration(monkeypatch):
    with pytest.raises(ConfigurationError, match="Allowed: httpx, httpx2"):
        loaded(monkeypatch, "requests")
    monkeypatch.setitem(sys.modules, "httpcore2", None)
    with pytest.raises(ConfigurationError, match="pip install httpx2"):
        loaded(monkeypatch, "httpx2")


@pytest.mark.slow
@pytest.mark.skipif("WORKBOOK_EVERYTHING" not in os.environ, reason="WORKBOOK_EVERYTHING runs it: half a minute")
@pytest.mark.skipif(find_spec("httpx2") is None, reason="httpx2 is not installed")
def test_the_clients_suite_passes_on_the_successor_of_httpx():
    assert chosen("httpx2", "-c", IMPORT).stdout == "httpx2 httpx2 httpcore2\n"
    # Whatever speaks HTTP. The other modules of the client are pure and import neither library: another run of their
    # properties would prove nothing of it, and ten examples of the others show whether the libraries agree.
    names = ("api/test_client", "api/test_client_faults", "api/test_client_wire", "api/test_net_deadline",
             "simulation/test_transport", "proxy/test_proxy_forwarding")  # fmt: skip
    suite = [f"tests/{name}.py" for name in names]
    run = chosen("httpx2", "-m", "pytest", "-q", "-p", "no:cacheprovider", *suite)
    assert run.returncode == 0, run.stdout[-3000:]
