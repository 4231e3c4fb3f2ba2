# The home of each public name: type checkers read it, and lazy_loader finds the module to load in it.
from . import errors as errors
from .api.client import ActivationDataClient as ActivationDataClient
from .api.client import AsyncActivationDataClient as AsyncActivationDataClient
from .api.exchange import RetryPolicy as RetryPolicy
from .api.exchange import Timeouts as Timeouts
from .api.opaque import SdkInput as SdkInput
from .api.opaque import SdkOutput as SdkOutput
from .base.files import sample as sample
from .checks.durations import judge as judge
from .checks.durations import read_durations as read_durations
from .flows import messages as messages
from .lessons.display import rule as rule
from .lessons.display import show as show
from .lessons.display import table as table
from .lessons.exercises.asking import exercise as exercise
from .lessons.lesson import check as check
from .lessons.run import Run as Run
from .lessons.session import session as session
from .lessons.widgets.chooser import choose as choose
from .play.handler import AuthorizationProvider as AuthorizationProvider
from .play.handler import ExtensionProvisioningService as ExtensionProvisioningService
from .play.handler import ReferenceHandler as ReferenceHandler
from .play.platform_a import CardAddress as CardAddress
from .play.platform_a import CardProvisioning as CardProvisioning
from .play.platform_b import ProvisioningService as ProvisioningService
from .play.platform_b import WatchAvailability as WatchAvailability
from .tools.commands.doctor import examine as examine
from .tools.conform.notebook import Relay as Relay
from .tools.conform.notebook import conform as conform
from .tools.conform.notebook import conform_app as conform_app
from .tools.conform.notebook import conform_back_end as conform_back_end
from .tools.diagnose.panels import diagnose as diagnose
from .tools.diagnose.panels import inspect as inspect
from .tools.mockserver.mock import MockServer as MockServer
from .tools.preflight.run import project as project

__version__: str
