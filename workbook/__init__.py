"""The provisioning workbook: walk, break and test in-app wallet card provisioning before going live.

    import workbook as wb

    session = wb.session()
    run = session.platform_a.play()

Every public name is here and is loaded when it is first used, so that `import workbook` costs nothing.
`notebooks/reference/python.md` explains each of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbook import errors as errors
    from workbook.api.client import ActivationDataClient as ActivationDataClient
    from workbook.api.client import AsyncActivationDataClient as AsyncActivationDataClient
    from workbook.api.exchange import RetryPolicy as RetryPolicy
    from workbook.api.exchange import Timeouts as Timeouts
    from workbook.api.opaque import SdkInput as SdkInput
    from workbook.api.opaque import SdkOutput as SdkOutput
    from workbook.base.files import sample as sample
    from workbook.commands.doctor import examine as examine
    from workbook.flows import messages as messages
    from workbook.mockserver.mock_server import MockServer as MockServer
    from workbook.notebook.conform import Relay as Relay
    from workbook.notebook.conform import conform as conform
    from workbook.notebook.display import rule as rule
    from workbook.notebook.display import show as show
    from workbook.notebook.display import table as table
    from workbook.notebook.exercises.asking import exercise as exercise
    from workbook.notebook.lesson import check as check
    from workbook.notebook.lesson import expect as expect
    from workbook.notebook.plays.run import Run as Run
    from workbook.notebook.project import project as project
    from workbook.notebook.session import session as session
    from workbook.notebook.symptoms import diagnose as diagnose
    from workbook.notebook.symptoms import inspect as inspect
    from workbook.notebook.widgets.builder import build as build
    from workbook.notebook.widgets.chooser import choose as choose
    from workbook.notebook.widgets.planner import planner as planner
    from workbook.reading.timing.measuring import measure as measure
    from workbook.reading.timing.planner import LogNormal as LogNormal
    from workbook.reading.timing.planner import Plan as Plan
    from workbook.reading.timing.recorded import judge as judge
    from workbook.reading.timing.recorded import read_durations as read_durations
    from workbook.runs.card_provisioning import CardProvisioning as CardProvisioning
    from workbook.runs.extension.handler import AuthorizationProvider as AuthorizationProvider
    from workbook.runs.extension.handler import ReferenceHandler as ReferenceHandler
    from workbook.runs.extension.service import ExtensionProvisioningService as ExtensionProvisioningService
    from workbook.runs.platform_a import CardAddress as CardAddress
    from workbook.runs.provisioning_service import ProvisioningService as ProvisioningService
    from workbook.runs.provisioning_service import WatchAvailability as WatchAvailability
    from workbook.simulation.phones import Watch as Watch

__version__ = "0.2.0"

_HOMES = {
    "ActivationDataClient": "workbook.api.client",
    "AsyncActivationDataClient": "workbook.api.client",
    "AuthorizationProvider": "workbook.runs.extension.handler",
    "CardAddress": "workbook.runs.platform_a",
    "CardProvisioning": "workbook.runs.card_provisioning",
    "ExtensionProvisioningService": "workbook.runs.extension.service",
    "LogNormal": "workbook.reading.timing.planner",
    "MockServer": "workbook.mockserver.mock_server",
    "Plan": "workbook.reading.timing.planner",
    "ProvisioningService": "workbook.runs.provisioning_service",
    "ReferenceHandler": "workbook.runs.extension.handler",
    "Relay": "workbook.notebook.conform",
    "RetryPolicy": "workbook.api.exchange",
    "Run": "workbook.notebook.plays.run",
    "SdkInput": "workbook.api.opaque",
    "SdkOutput": "workbook.api.opaque",
    "Timeouts": "workbook.api.exchange",
    "Watch": "workbook.simulation.phones",
    "WatchAvailability": "workbook.runs.provisioning_service",
    "build": "workbook.notebook.widgets.builder",
    "check": "workbook.notebook.lesson",
    "choose": "workbook.notebook.widgets.chooser",
    "conform": "workbook.notebook.conform",
    "diagnose": "workbook.notebook.symptoms",
    "errors": "workbook.errors",
    "examine": "workbook.commands.doctor",
    "exercise": "workbook.notebook.exercises.asking",
    "expect": "workbook.notebook.lesson",
    "inspect": "workbook.notebook.symptoms",
    "judge": "workbook.reading.timing.recorded",
    "measure": "workbook.reading.timing.measuring",
    "messages": "workbook.flows.messages",
    "planner": "workbook.notebook.widgets.planner",
    "project": "workbook.notebook.project",
    "read_durations": "workbook.reading.timing.recorded",
    "rule": "workbook.notebook.display",
    "sample": "workbook.base.files",
    "session": "workbook.notebook.session",
    "show": "workbook.notebook.display",
    "table": "workbook.notebook.display",
}
"""The module that defines each public name; some names are the module itself."""

if not TYPE_CHECKING:  # a type checker reads the imports above; __getattr__ would tell it: any name exists
    __all__ = list(_HOMES)

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            from difflib import get_close_matches

            close = get_close_matches(name, _HOMES, n=1)
            hint = f"Did you mean {close[0]!r}?" if close else f"Public names: {', '.join(_HOMES)}."
            raise AttributeError(f"workbook has no public name {name!r}. {hint}")
        try:
            loaded = import_module(_HOMES[name])
        except ModuleNotFoundError:
            from workbook.base.files import needs_lab

            with needs_lab(f"wb.{name}"):
                raise
        globals()[name] = value = getattr(loaded, name, loaded)
        return value


def __dir__() -> list[str]:
    return [*_HOMES, "__version__"]
