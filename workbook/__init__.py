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
    from workbook.card_provisioning import CardProvisioning as CardProvisioning
    from workbook.conformance.notebook import Relay as Relay
    from workbook.conformance.notebook import conform as conform
    from workbook.display import rule as rule
    from workbook.display import show as show
    from workbook.display import table as table
    from workbook.doctor import examine as examine
    from workbook.exercises.asking import exercise as exercise
    from workbook.extension.handler import AuthorizationProvider as AuthorizationProvider
    from workbook.extension.handler import ReferenceHandler as ReferenceHandler
    from workbook.extension.measuring import measure as measure
    from workbook.extension.service import ExtensionProvisioningService as ExtensionProvisioningService
    from workbook.files import sample as sample
    from workbook.flows import messages as messages
    from workbook.lesson import check as check
    from workbook.lesson import expect as expect
    from workbook.plays.run import Run as Run
    from workbook.preflight.notebook import project as project
    from workbook.provisioning_service import ProvisioningService as ProvisioningService
    from workbook.provisioning_service import WatchAvailability as WatchAvailability
    from workbook.runs.platform_a import CardAddress as CardAddress
    from workbook.sessions import session as session
    from workbook.simulation.mock_server import MockServer as MockServer
    from workbook.simulation.phones import Watch as Watch
    from workbook.symptoms import diagnose as diagnose
    from workbook.symptoms import inspect as inspect
    from workbook.timing.planner import LogNormal as LogNormal
    from workbook.timing.planner import Plan as Plan
    from workbook.timing.recorded import judge as judge
    from workbook.timing.recorded import read_durations as read_durations
    from workbook.widgets.builder import build as build
    from workbook.widgets.chooser import choose as choose
    from workbook.widgets.planner import planner as planner

__version__ = "0.2.0"

_HOMES = {
    "ActivationDataClient": "workbook.api.client",
    "AsyncActivationDataClient": "workbook.api.client",
    "AuthorizationProvider": "workbook.extension.handler",
    "CardAddress": "workbook.runs.platform_a",
    "CardProvisioning": "workbook.card_provisioning",
    "ExtensionProvisioningService": "workbook.extension.service",
    "LogNormal": "workbook.timing.planner",
    "MockServer": "workbook.simulation.mock_server",
    "Plan": "workbook.timing.planner",
    "ProvisioningService": "workbook.provisioning_service",
    "ReferenceHandler": "workbook.extension.handler",
    "Relay": "workbook.conformance.notebook",
    "RetryPolicy": "workbook.api.exchange",
    "Run": "workbook.plays.run",
    "SdkInput": "workbook.api.opaque",
    "SdkOutput": "workbook.api.opaque",
    "Timeouts": "workbook.api.exchange",
    "Watch": "workbook.simulation.phones",
    "WatchAvailability": "workbook.provisioning_service",
    "build": "workbook.widgets.builder",
    "check": "workbook.lesson",
    "choose": "workbook.widgets.chooser",
    "conform": "workbook.conformance.notebook",
    "diagnose": "workbook.symptoms",
    "errors": "workbook.errors",
    "examine": "workbook.doctor",
    "exercise": "workbook.exercises.asking",
    "expect": "workbook.lesson",
    "inspect": "workbook.symptoms",
    "judge": "workbook.timing.recorded",
    "measure": "workbook.extension.measuring",
    "messages": "workbook.flows.messages",
    "planner": "workbook.widgets.planner",
    "project": "workbook.preflight.notebook",
    "read_durations": "workbook.timing.recorded",
    "rule": "workbook.display",
    "sample": "workbook.files",
    "session": "workbook.sessions",
    "show": "workbook.display",
    "table": "workbook.display",
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
            from workbook.files import needs_lab

            with needs_lab(f"wb.{name}"):
                raise
        globals()[name] = value = getattr(loaded, name, loaded)
        return value


def __dir__() -> list[str]:
    return [*_HOMES, "__version__"]
