"""Addresses that only wrap another one are judged by the one inside."""

from ipaddress import ip_address

from rows import rows

from workbook.tools.harness.origin import inner


@rows(
    ("address", "inside"),
    [
        ("169.254.169.254", "169.254.169.254"),
        ("::ffff:169.254.169.254", "169.254.169.254"),
        ("::169.254.169.254", "169.254.169.254"),
        ("64:ff9b::a9fe:a9fe", "169.254.169.254"),
        ("64:ff9b:1::a9fe:a9fe", "169.254.169.254"),
        ("2002:a9fe:a9fe::1", "169.254.169.254"),
        ("2001:0:1:1::5601:5601", "169.254.169.254"),
        ("::1", "::1"),
        ("::", "::"),
        ("2001:db8::a9fe:a9fe", "2001:db8::a9fe:a9fe"),
        ("64:ff9b:2::a9fe:a9fe", "64:ff9b:2::a9fe:a9fe"),
    ],
)
def test_the_address_inside(address, inside):
    assert inner(ip_address(address)) == ip_address(inside)
