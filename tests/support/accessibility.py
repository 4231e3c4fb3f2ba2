"""What axe complains of on a page."""

from axe_playwright_python.sync_playwright import Axe


def complaints(page, context=None, **options):
    """The rules that are broken, each with the first element that breaks it."""
    found = Axe().run(page, context=context, options={"resultTypes": ["violations"], **options})
    return [(one["id"], one["nodes"][0]["html"][:200]) for one in found.response["violations"]]


def complaints_in_both_schemes(page, colours=("color-contrast",), **options):
    """Those in the light, and those in the dark, where nothing but the colours is another."""
    page.emulate_media(color_scheme="light")
    light = complaints(page, **options)
    page.emulate_media(color_scheme="dark")
    return light + complaints(page, runOnly=[*colours])
