"""A plugin of pytest that is there for the notebooks alone as well, where no conftest.py of `tests` is read."""

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """A notebook's kernel starts as `workbook render` starts it: a form that nobody fills in is not shown."""
    with pytest.MonkeyPatch.context() as patch:
        if item.path.suffix == ".ipynb":
            patch.setenv("WORKBOOK_UNATTENDED", "1")
        return (yield)
