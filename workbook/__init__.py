"""The provisioning workbook: walk, break and test in-app wallet card provisioning before going live.

    import workbook as wb

    session = wb.session()
    run = session.platform_a.play()

Every public name is listed in `__init__.pyi` and is loaded when it is first used, so that `import workbook` is cheap.
`notebooks/reference/python.md` explains each of them.
"""

import lazy_loader

__version__ = "0.2.0"

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    if name not in __all__:
        from workbook.base.values import did_you_mean

        raise AttributeError(f"workbook has no public name {name!r}. {did_you_mean(name, __all__)}")
    try:
        return _load(name)
    except ModuleNotFoundError:
        from workbook.base.files import needs_lab

        with needs_lab(f"wb.{name}"):
            raise
