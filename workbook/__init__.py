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
    from workbook.extension.measuring import measure_handler as measure
    from workbook.extension.service import ExtensionProvisioningService as ExtensionProvisioningService
    from workbook.files import fixture as sample
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
    from workbook.timing.recorded import judge_recorded as judge
    from workbook.timing.recorded import read_durations as read_durations
    from workbook.widgets.builder import builder as build
    from workbook.widgets.chooser import choose as choose
    from workbook.widgets.planner import planner as planner

__version__ = "0.2.0"

_HOMES = {
    "ActivationDataClient": ("workbook.api.client", "ActivationDataClient"),
    "AsyncActivationDataClient": ("workbook.api.client", "AsyncActivationDataClient"),
    "AuthorizationProvider": ("workbook.extension.handler", "AuthorizationProvider"),
    "CardAddress": ("workbook.runs.platform_a", "CardAddress"),
    "CardProvisioning": ("workbook.card_provisioning", "CardProvisioning"),
    "ExtensionProvisioningService": ("workbook.extension.service", "ExtensionProvisioningService"),
    "LogNormal": ("workbook.timing.planner", "LogNormal"),
    "MockServer": ("workbook.simulation.mock_server", "MockServer"),
    "Plan": ("workbook.timing.planner", "Plan"),
    "ProvisioningService": ("workbook.provisioning_service", "ProvisioningService"),
    "ReferenceHandler": ("workbook.extension.handler", "ReferenceHandler"),
    "Relay": ("workbook.conformance.notebook", "Relay"),
    "RetryPolicy": ("workbook.api.exchange", "RetryPolicy"),
    "Run": ("workbook.plays.run", "Run"),
    "SdkInput": ("workbook.api.opaque", "SdkInput"),
    "SdkOutput": ("workbook.api.opaque", "SdkOutput"),
    "Timeouts": ("workbook.api.exchange", "Timeouts"),
    "Watch": ("workbook.simulation.phones", "Watch"),
    "WatchAvailability": ("workbook.provisioning_service", "WatchAvailability"),
    "build": ("workbook.widgets.builder", "builder"),
    "check": ("workbook.lesson", "check"),
    "choose": ("workbook.widgets.chooser", "choose"),
    "conform": ("workbook.conformance.notebook", "conform"),
    "diagnose": ("workbook.symptoms", "diagnose"),
    "errors": ("workbook.errors", ""),
    "examine": ("workbook.doctor", "examine"),
    "exercise": ("workbook.exercises.asking", "exercise"),
    "expect": ("workbook.lesson", "expect"),
    "inspect": ("workbook.symptoms", "inspect"),
    "judge": ("workbook.timing.recorded", "judge_recorded"),
    "measure": ("workbook.extension.measuring", "measure_handler"),
    "messages": ("workbook.flows.messages", ""),
    "planner": ("workbook.widgets.planner", "planner"),
    "project": ("workbook.preflight.notebook", "project"),
    "read_durations": ("workbook.timing.recorded", "read_durations"),
    "rule": ("workbook.display", "rule"),
    "sample": ("workbook.files", "fixture"),
    "session": ("workbook.sessions", "session"),
    "show": ("workbook.display", "show"),
    "table": ("workbook.display", "table"),
}
"""The module of each public name, and its name there; an empty one means the module itself."""

__all__ = [
    "ActivationDataClient",
    "AsyncActivationDataClient",
    "AuthorizationProvider",
    "CardAddress",
    "CardProvisioning",
    "ExtensionProvisioningService",
    "LogNormal",
    "MockServer",
    "Plan",
    "ProvisioningService",
    "ReferenceHandler",
    "Relay",
    "RetryPolicy",
    "Run",
    "SdkInput",
    "SdkOutput",
    "Timeouts",
    "Watch",
    "WatchAvailability",
    "build",
    "check",
    "choose",
    "conform",
    "diagnose",
    "errors",
    "examine",
    "exercise",
    "expect",
    "inspect",
    "judge",
    "measure",
    "messages",
    "planner",
    "project",
    "read_durations",
    "rule",
    "sample",
    "session",
    "show",
    "table",
]


if not TYPE_CHECKING:  # a type checker would believe that every name is there

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            from difflib import get_close_matches

            close = get_close_matches(name, _HOMES, n=1)
            hint = f"Did you mean {close[0]!r}?" if close else f"Public names: {', '.join(__all__)}."
            raise AttributeError(f"workbook has no public name {name!r}. {hint}")
        module, attribute = _HOMES[name]
        try:
            loaded = import_module(module)
        except ModuleNotFoundError:
            from workbook.files import needs_lab

            with needs_lab(f"wb.{name}"):
                raise
        value = getattr(loaded, attribute) if attribute else loaded
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
