"""The provisioning workbook: walk, break and test in-app wallet card provisioning before going live.

    import workbook as wb

    session = wb.session()
    run = session.platform_a.play()

Every public name is here and is loaded when it is first used, so that `import workbook` costs nothing.
`notebooks/reference/python.md` explains each of them.
"""

import re
from functools import cache
from importlib import import_module
from pathlib import Path
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
    from workbook.checks.timing.measured import measure as measure
    from workbook.checks.timing.planner import LogNormal as LogNormal
    from workbook.checks.timing.planner import Plan as Plan
    from workbook.checks.timing.recorded import judge as judge
    from workbook.checks.timing.recorded import read_durations as read_durations
    from workbook.flows import messages as messages
    from workbook.lessons.display import rule as rule
    from workbook.lessons.display import show as show
    from workbook.lessons.display import table as table
    from workbook.lessons.exercises.asking import exercise as exercise
    from workbook.lessons.lesson import check as check
    from workbook.lessons.lesson import expect as expect
    from workbook.lessons.plays.run import Run as Run
    from workbook.lessons.session import session as session
    from workbook.lessons.widgets.chooser import choose as choose
    from workbook.lessons.widgets.planner import planner as planner
    from workbook.play.extension.handler import AuthorizationProvider as AuthorizationProvider
    from workbook.play.extension.handler import ExtensionProvisioningService as ExtensionProvisioningService
    from workbook.play.extension.handler import ReferenceHandler as ReferenceHandler
    from workbook.play.platform_a import CardAddress as CardAddress
    from workbook.play.platform_a import CardProvisioning as CardProvisioning
    from workbook.play.platform_b import ProvisioningService as ProvisioningService
    from workbook.play.platform_b import WatchAvailability as WatchAvailability
    from workbook.simulation.phones import Watch as Watch
    from workbook.tools.commands.doctor import examine as examine
    from workbook.tools.conform.notebook import Relay as Relay
    from workbook.tools.conform.notebook import conform as conform
    from workbook.tools.diagnose.panels import diagnose as diagnose
    from workbook.tools.diagnose.panels import inspect as inspect
    from workbook.tools.mockserver import mock as mock
    from workbook.tools.preflight.notebook import project as project

__version__ = "0.2.0"


if not TYPE_CHECKING:  # a type checker reads the imports; __getattr__ would tell it that any name exists

    @cache
    def _homes() -> dict[str, str]:
        """The module of each public name, read from the imports above: there is no second list to keep."""
        source = Path(__file__).read_text(encoding="utf-8")
        found = re.findall(r"^    from (\S+) import (\w+) as ", source, re.MULTILINE)
        return dict(sorted((name, home) for home, name in found))

    def __dir__() -> list[str]:
        return [*_homes(), "__version__"]

    def __getattr__(name: str) -> object:
        homes = _homes()
        if name == "__all__":
            return list(homes)
        if name not in homes:
            from workbook.base.values import nearest

            close = nearest(name, homes)
            hint = f"Did you mean {close!r}?" if close else f"Public names: {', '.join(homes)}."
            raise AttributeError(f"workbook has no public name {name!r}. {hint}")
        try:
            home = import_module(homes[name])
            value = vars(home)[name] if name in vars(home) else import_module(f"{homes[name]}.{name}")
        except ModuleNotFoundError:
            from workbook.base.files import needs_lab

            with needs_lab(f"wb.{name}"):
                raise
        globals()[name] = value
        return value
