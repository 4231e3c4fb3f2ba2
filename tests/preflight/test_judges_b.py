"""Cases of platform B, beyond one small edit of a good project."""

import pytest
from sample_projects import judged

from workbook.harness.model import Verdict


@pytest.mark.rule("X-PLIST-3")
def test_a_class_with_a_plain_name_of_its_own_needs_no_module(platform_b):
    file = platform_b / "WalletExtension" / "Info.plist"
    file.write_text(file.read_text().replace("$(PRODUCT_MODULE_NAME).", ""))
    assert judged(platform_b)["plist.principal-class"].verdict is Verdict.FAIL
    source = platform_b / "App" / "ExtensionHandler.swift"
    source.write_text(source.read_text().replace("final class", "@objc(ExtensionHandler)\nfinal class"))
    assert judged(platform_b)["plist.principal-class"].verdict is Verdict.PASS


WITH_COMPLETIONS = """\
class WalletHandler: IssuerProvisioningExtensionHandler {
    private lazy var session: URLSession = { URLSession(configuration: .default) }()
    let shared = UserDefaults(suiteName: "group.com.issuer.cards")
    override func status(completion: @escaping (ExtensionStatus) -> Void) {
        let status = ExtensionStatus()
        status.passEntriesAvailable = shared?.string(forKey: "token") != nil
        completion(status)
    }
    override func remotePassEntries(completion: @escaping ([PassEntry]) -> Void) {
        self.passEntries(completion: completion)
    }
    override func passEntries(completion: @escaping ([PassEntry]) -> Void) {
        session.dataTask(with: request) { data, _, _ in completion([]) }.resume()
    }
}
"""


@pytest.mark.rule("X-STATUS-3", "X-ENTRIES-2")
def test_a_handler_without_the_sdk_and_with_completions_is_judged_too(platform_b):
    source = platform_b / "App" / "ExtensionHandler.swift"

    def failed(text):
        source.write_text(text)
        return {name for name, case in judged(platform_b).items() if case.verdict is Verdict.FAIL}

    assert failed(WITH_COMPLETIONS) == {"swift.remote-entries"}
    calling = WITH_COMPLETIONS.replace("let status = ", "session.dataTask(with: url).resume()\n        let status = ")
    assert failed(calling) == {"swift.remote-entries", "swift.status-network"}


def test_an_apps_own_function_with_a_name_of_the_other_variant_is_not_blamed(platform_b):
    file = platform_b / "App" / "AddCardModel.swift"
    calling = file.read_text().replace("save(sdkInput, cardId)", "_ = page.canAddCard()")

    def verdict(text):
        file.write_text(text)
        return judged(platform_b)["swift.can-add"].verdict

    assert verdict(calling) is Verdict.FAIL
    assert verdict(f"{calling}\nextension Page {{ func canAddCard() -> Bool {{ true }} }}\n") is Verdict.PASS
