"""Property lists, project files, and where the SDK's version is pinned."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_projects import HOSTILE, PIECES

from workbook.tools.preflight.literals import read_javascript, read_old_plist, read_plist, read_yaml
from workbook.tools.preflight.project import read_project
from workbook.tools.preflight.run import read_platform_b


@pytest.mark.parametrize(
    ("pin", "version"),
    [
        ('from: "2.0.1"', (2, 0, 1)),
        ('exact: "1.0.0"', (1, 0, 0)),
        ('.upToNextMajor(from: "2.2.0")', (2, 2, 0)),
        ('"2.0.0"..<"3.0.0"', (2, 0, 0)),
        ('branch: "main"', ()),
    ],
)
def test_the_sdks_version_is_read_from_a_package_manifest_too(platform_b, pin, version):
    (platform_b / "Package.resolved").unlink()
    url = "https://host.example/operator/card-provisioning.git"
    (platform_b / "Package.swift").write_text(f'let package = Package(dependencies: [.package(url: "{url}", {pin})])')
    assert read_platform_b(read_project([platform_b])).version == version


@pytest.mark.parametrize("key", ["minimumVersion", "version"])
def test_a_project_file_that_names_the_sdks_package_says_its_version(platform_b, key):
    (platform_b / "Package.resolved").unlink()
    file = platform_b / "Issuer.project" / "project.pbxproj"
    reference = (
        'objects = { FF01 = { isa = XCRemoteSwiftPackageReference;'
        ' repositoryURL = "https://host.example/operator/card-provisioning.git";'
        ' requirement = { kind = range; %s = 2.0.1; }; };'
    )  # fmt: skip
    file.write_text(file.read_text().replace("objects = {", reference % key, 1))
    (found,) = read_platform_b(read_project([platform_b])).packages
    assert (found.name, found.version, found.file.name) == (
        "card-provisioning",
        "2.0.1",
        "Issuer.project/project.pbxproj",
    )


BOMB = b"""<?xml version="1.0"?><!DOCTYPE p [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<plist version="1.0"><dict><key>NSExtension</key><string>&b;</string></dict></plist>"""


@pytest.mark.parametrize(
    "content",
    [BOMB, b"bplist00" + b"\xd1\x00" * 50, b"<plist>" + b"<dict><key>a</key>" * 60_000, b"\0" * 1000, b""],
)
def test_a_hostile_property_list_is_none(content):
    assert read_plist(content) is None


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_list_in_the_old_form_is_read_in_one_pass(text):
    assert read_old_plist(text) is None or isinstance(read_old_plist(text), str)


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_whatever_the_text_is_it_is_read_without_an_error(text):
    read_old_plist(text)
    read_plist(text.encode())
    read_javascript(text)
    read_yaml(text)
