"""A request as code to copy: curl, httpx, Kotlin, Swift.

The address, the key and an sdkOutput are variables of the environment, so that no copy holds a secret. A back end runs
the code: the API key belongs in no app (API-13).
"""

from typing import NamedTuple

# What every request carries (API-4); the key is filled in by each language in its own way.
HEADERS = (("x-api-key", ""), ("content-type", "application/json"), ("accept", "application/json"))


class Language(NamedTuple):
    """How a language writes a request.

    Attributes:
        template: the whole request; `{method}`, `{path}`, `{headers}` and `{body}` are filled in.
        header: one header; `{name}` and `{value}` are filled in.
        joint: what is between two headers.
        key: where the API key comes from.
        quote: what encloses a plain value.
        body: the body of a POST.
        nothing: what stands in the place of a body.
    """

    template: str
    header: str
    joint: str
    key: str
    quote: str
    body: str
    nothing: str = ""


# Every language that a request can be copied in.
LANGUAGES = {
    "curl": Language(
        'curl -X {method} "$BASE_URL{path}" \\\n{headers}{body}',
        header='  -H "{name}: {value}"',
        joint=" \\\n",
        key="$WORKBOOK_API_KEY",
        quote="",
        body=' \\\n  --data "{\\"sdkOutput\\": \\"$SDK_OUTPUT\\"}"',
    ),
    "httpx": Language(
        """import os
import httpx

response = httpx.request(
    "{method}",
    os.environ["BASE_URL"] + "{path}",
    headers={{
{headers}
    }},{body}
)
print(response.status_code, response.json())""",
        header='        "{name}": {value},',
        joint="\n",
        key='os.environ["WORKBOOK_API_KEY"]',
        quote='"',
        body='\n    json={"sdkOutput": os.environ["SDK_OUTPUT"]},',
    ),
    "Kotlin": Language(
        """import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.HttpResponse.BodyHandlers

val request = HttpRequest.newBuilder(URI(System.getenv("BASE_URL") + "{path}"))
{headers}
    .method("{method}", BodyPublishers.{body})
    .build()
val response = HttpClient.newHttpClient().send(request, BodyHandlers.ofString())
println("${{response.statusCode()}} ${{response.body()}}")""",
        header='    .header("{name}", {value})',
        joint="\n",
        key='System.getenv("WORKBOOK_API_KEY")',
        quote='"',
        body='ofString("""{"sdkOutput": "${System.getenv("SDK_OUTPUT")}"}""")',
        nothing="noBody()",
    ),
    "Swift": Language(
        """import Foundation

let environment = ProcessInfo.processInfo.environment
var request = URLRequest(url: URL(string: environment["BASE_URL"]! + "{path}")!)
request.httpMethod = "{method}"
{headers}{body}
let (data, response) = try await URLSession.shared.data(for: request)
print((response as! HTTPURLResponse).statusCode, String(decoding: data, as: UTF8.self))""",
        header='request.setValue({value}, forHTTPHeaderField: "{name}")',
        joint="\n",
        key='environment["WORKBOOK_API_KEY"]',
        quote='"',
        body='\nrequest.httpBody = try JSONEncoder().encode(["sdkOutput": environment["SDK_OUTPUT"]!])',
    ),
}


def snippets(method: str, path: str, *, sends: bool) -> dict[str, str]:
    """A request to the API in each language.

    Args:
        method: GET or POST.
        path: percent-encoded, from the slash after the host on.
        sends: whether it has an sdkOutput as its body.
    """
    written = {}
    for name, language in LANGUAGES.items():
        quote = language.quote
        headers = (
            language.header.format(name=header, value=f"{quote}{value}{quote}" if value else language.key)
            for header, value in HEADERS
        )
        body = language.body if sends else language.nothing
        joined = language.joint.join(headers)
        written[name] = language.template.format(method=method, path=path, headers=joined, body=body)
    return written
