"""The native code of the lessons: every file parses, has no forced unwrapping, and knows nothing of the API's key.

A grammar finds what is not Swift or Kotlin, without a compiler. `test_kotlin` and `test_swift` compile all of it.
"""

import re
from pathlib import Path

import pytest
import tree_sitter
import tree_sitter_kotlin
import tree_sitter_swift
from rows import rows
from texts import demand_none

from workbook.base.files import NATIVE
from workbook.flows import messages as m
from workbook.play.loop import LABELS
from workbook.simulation.wallet import ERRORS, PROVISION_FAILURES
from workbook.tools.conform.app.compiling import standin_swift

GRAMMARS = {".swift": tree_sitter_swift, ".kt": tree_sitter_kotlin}
FILES = sorted(path for path in NATIVE.rglob("*") if path.suffix in GRAMMARS)
ids = [path.name for path in FILES]


def nodes(path: Path, text: bytes | None = None):
    """Every node of a file's syntax tree."""
    grammar = GRAMMARS[path.suffix]
    parser = tree_sitter.Parser(tree_sitter.Language(grammar.language()))
    waiting = [parser.parse(path.read_bytes() if text is None else text).root_node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.children


def mistakes(found):
    """The lines on which something is no such language, from 1."""
    return sorted({node.start_point[0] + 1 for node in found if node.type == "ERROR" or node.is_missing})


def forced(found):
    """What ends an app where a value is missing or a call throws: `x!`, `try!`, `as!` and `x!!`."""
    for node in found:
        inside = node.parent.type if node.parent else ""
        unwrapped = inside in ("postfix_expression", "unary_expression") and node.type in ("bang", "!!")
        if unwrapped or node.text in (b"try!", b"as!"):
            yield node.start_point


@pytest.mark.rule("API-13")
@rows("path", FILES)
def test_a_file_parses_forces_nothing_and_knows_neither_the_key_nor_the_api(path):
    whole = path.read_bytes()
    assert mistakes(nodes(path)) == []
    *_before, last = re.finditer(rb"^ *[})]", whole, re.MULTILINE)
    assert mistakes(nodes(path, whole[: last.start()])) != [], "a missing bracket would be seen"
    assert [*forced(nodes(path))] == []
    assert [word for word in (b"x-api-key", b"networktokenactivationdata", b"/bcl/") if word in whole.lower()] == []


@pytest.mark.parametrize("path", [path for path in FILES if path.suffix == ".swift"], ids=lambda path: path.name)
def test_swift_keeps_to_calls_that_the_lowest_system_has(path):
    """The SDK works from 13.4 on (sdk-b); these async calls of URLSession and Task came with 15 and 16."""
    calls = [node.text.decode() for node in nodes(path) if node.type == "call_expression"]
    newer = re.compile(r"\.(data|upload|download|bytes)\(\s*(for|from):|Task\.sleep\(for:")
    assert [call for call in calls if newer.search(call)] == []


@pytest.mark.rule("B-FIN-2", "APP-4")
def test_each_label_of_the_native_pages_is_said_where_it_holds():
    """A label after `added ?`, in a `catch` or for a hidden button is that of the run's own table of labels."""
    added, available, failed = (LABELS[command] for command in (m.ShowAdded, m.ShowAvailable, m.TellFailure))
    said = []
    for path in sorted((NATIVE / "swift").glob("*.swift")):
        text = path.read_text("utf-8")
        for condition, yes, no in re.findall(r'(\w+) \? "([^"]*)" : "([^"]*)"', text):
            assert (condition, yes.lower(), no.lower()) == ("added", added.lower(), failed.lower()), path.name
            said.append("outcome")
        for caught in re.findall(r"catch \{(.*?)\n        \}", text, re.DOTALL):
            labels = {label.lower() for label in re.findall(r'"([^"\n]*)"', caught)}
            assert not labels & {added.lower(), available.lower()}, path.name
            said += ["failure"] if failed.lower() in labels else []
        for hidden in re.findall(r'== \.hidden, app\.isInWallet\(cardId\) \{ message = "([^"]*)"', text):
            assert hidden == available
            said.append("hidden")
    assert {"outcome", "failure", "hidden"} <= set(said)
    assert all("pass != nil" in path.read_text("utf-8") for path in NATIVE.glob("swift/AddCardModel.swift"))


def code(name):
    """The text of a native file without its comments, each run of blanks and line ends as one blank."""
    text = (NATIVE / name).read_text("utf-8")
    return " ".join(re.sub(r"(?<!:)//.*|/\*[\s\S]*?\*/", "", text).split())


def swift_function(name, declared):
    """The body of one function of a Swift file, without comments."""
    text = code(f"swift/{name}")
    _before, _name, rest = text.partition(f"func {declared}")
    rest = rest[rest.index("{") :]
    depth = 0
    for at, character in enumerate(rest):
        depth += (character == "{") - (character == "}")
        if depth == 0:
            return rest[1:at].strip()
    raise AssertionError(declared)


SHAPES = """
InApp.swift both public enum ProvisioningServiceError: Error {
InApp.swift both public final class ProvisioningService: Sendable {
InApp.swift both public init(sdkInput: Data) throws {
InApp.swift both public func start(delegate: ProvisioningDelegate, presentingViewController: UIViewController) throws {
InApp.swift both func didFinishProvisioning(with pass: PaymentPass?, error: Error?)
InApp.swift later public func canAddCard(isWatchActivated: Bool) -> Bool {
InApp.swift later public func canAddCardDetails(isWatchActivated: Bool) -> CanAddCardDetails {
InApp.swift later func provision(sdkOutput: Data, paymentInstrumentId: String) async -> Data?
InApp.swift later public func pair() async -> Bool {
InApp.swift later public func activate() async -> Bool {
InApp.swift later public static func activate() async -> Bool {
InApp.swift later public func passURL() -> URL? { nil }
InApp.swift later public func addPaymentPassViewController(
InApp.swift later _ controller: AddPaymentPassViewController, generateRequestWithCertificateChain certificates: [Data],
InApp.swift earlier public func canAddCard() async -> Bool {
InApp.swift earlier public func canAddCardDetails() async -> CanAddCardDetails {
InApp.swift earlier func provision(sdkOutput: Data) async -> Data?
Extension.swift both public enum ExtensionProvisioningServiceError: Error {
Extension.swift both public convenience init(sdkInput: Data) throws {
Extension.swift both public init(sdkInputs: [Data]) throws {
Extension.swift both public static var entriesUnavailableExtensionStatus: ExtensionStatus {
Extension.swift both public static var entriesAvailableExtensionStatus: ExtensionStatus {
Extension.swift both public func extensionStatus(requiresAuthentication: Bool) -> ExtensionStatus {
Extension.swift both public func passEntries(withDelegate delegate: ExtensionProvisioningDelegate) -> [PassEntry] {
Extension.swift both public func remotePassEntries(withDelegate delegate: ExtensionProvisioningDelegate)
Extension.swift both func provision(paymentInstrumentId: String, sdkOutput: Data) async -> Data?
Extension.swift both identifier: String, configuration: AddPaymentPassRequestConfiguration, certificateChain: [Data],
Extension.swift both nonce: Data, nonceSignature: Data, delegate: ExtensionProvisioningDelegate
Extension.swift both ) async throws -> AddPaymentPassRequest {
Extension.swift later func cardArt(paymentInstrumentId: String) -> CGImage
Extension.swift earlier func cardArt(forBrand: String) -> CGImage
WalletKit.swift both open class IssuerProvisioningExtensionHandler {
"""
"""The public shapes of platform B's SDK (sdk-b): a file of the stand-in, the variant that has it, and how it begins."""


@pytest.mark.rule("B-CAN-1", "B-CAN-2", "B-DEL-1", "B-DEL-2", "X-ART-1", "X-DEL-1", "X-GEN-1")
@pytest.mark.parametrize("variant", ["earlier", "later"])
def test_the_stand_in_has_the_sdks_public_shapes_in_swift(variant):
    files = {name.rpartition("/")[2]: text for name, text in standin_swift(variant).items()}
    for file, only, shape in (line.split(maxsplit=2) for line in SHAPES.strip().splitlines()):
        lines = [line.strip() for line in files[file].splitlines()]
        assert any(line.startswith(shape) for line in lines) == (only in ("both", variant)), shape


@rows(
    ("file", "names"),
    [
        ("kotlin/standin/CardProvisioning.kt", PROVISION_FAILURES),
        ("swift/standin/Sources/Provisioning/InApp.swift", ERRORS),
    ],
)
def test_the_stand_in_tells_every_failure_of_its_platform_apart(file, names):
    text = (NATIVE / file).read_text("utf-8")
    demand_none([f"fixtures/native/{file}: it has no {name}" for name in names if not re.search(rf"\b{name}\b", text)])


BACK, HANDLER = "BackEnd.swift", "ExtensionHandler.swift"
SWIFT = r"""
B-CAN-1 AddCardModel.swift ask
    app.watch.activate()
    canAddCardDetails(isWatchActivated: isWatchActivated)
    canAdd ? .shown : .hidden
B-CAN-2 AddCardModel.swift ask
    ?? false
    canAdd ? .shown
B-INIT-1 AddCardModel.swift opened
    guard button != .disabled, !isAsking else { return }
    isAsking = true
    (button, message, canTryAgain) = (.absent, "", false)
    backEnd.activationData(for: cardId)
    ProvisioningService(sdkInput: sdkInput)
    ask()
    catch
    button = .hidden
    case .signIn: message = "Sign in again."
    (message, canTryAgain) = ("The card cannot be added now. Try again later.", true)
    case .noSuchCard, nil: break
X-CACHE-1 AddCardModel.swift opened
    activationData
    ProvisioningService(
    app.save(sdkInput, cardId)
B-START-1 AddCardModel.swift addTapped
    guard button == .shown, let service else { return }
    button = .disabled
    service.start(delegate: self, presentingViewController: page)
    catch
    .shown, "Not added"
B-DEL-3 AddCardModel.swift provision
    guard paymentInstrumentId == cardId else
    return nil
    return try await app.backEnd.provision(paymentInstrumentId, sdkOutput: sdkOutput)
    catch
    return nil
B-FIN-1 AddCardModel.swift didFinishProvisioning
    pass != nil
    .userCancelled? = error as? ProvisioningServiceError
    @MainActor
    message = cancelled ? "" : added
    ask()
B-DEL-1 EarlierDelegate.swift provision
    return try await backEnd.provision(cardId, sdkOutput: sdkOutput)
    catch
    return nil
B-FIN-1 EarlierDelegate.swift didFinishProvisioning
    pass != nil
    .userCancelled? = error as? ProvisioningServiceError
    @MainActor
    finished(added, cancelled)
API-12 ExtensionHandler.swift fetch
    for id in ids { group.addTask
    try await backEnd.activationData(for: id)
    catch
    return (id, nil)
X-ENTRIES-1 ExtensionHandler.swift shown
    $0.art !== CardArt.blank
    identifiers.insert($0.identifier).inserted
API-8 BackEnd.swift provision
    ["sdkOutput": sdkOutput.base64EncodedString()]
    call("POST", cardId, "provision", body: body)
API-5 BackEnd.swift activationData
    call("GET", cardId, "activation-data", body: nil)
REL-2 BackEnd.swift urlSession
    nil
REL-6 BackEnd.swift sdkInput
    json["sdkInput"] as? String
    Data(base64Encoded: text), !bytes.isEmpty
    throw BackEndFailure.tryLater
    return bytes
GAP-1 BackEnd.swift call
    case 200: return try sdkInput(of: answer)
    case 401: throw BackEndFailure.signIn
    case 403, 404: throw BackEndFailure.noSuchCard
    default: throw BackEndFailure.tryLater
X-STATUS-2 ExtensionHandler.swift status
    guard let service = makeService(cards.map(\.sdkInput))
    entriesUnavailableExtensionStatus
    extensionStatus(requiresAuthentication: true)
X-ENTRIES-1 ExtensionHandler.swift passEntries
    !PassLibrary.isOnPhone($0)
    shown(
    fetch(missing)
    ?.passEntries(withDelegate: self) ?? []
X-ENTRIES-2 ExtensionHandler.swift remotePassEntries
    !PassLibrary.isOnWatch($0)
    shown(
    fetch(missing)
    ?.remotePassEntries(withDelegate: self) ?? []
X-GEN-1 ExtensionHandler.swift generateAddPaymentPassRequestForPassEntryWithIdentifier
    identifier: identifier
    configuration: configuration
    certificateChain: certificateChain
    nonce: nonce
    nonceSignature: nonceSignature
    catch
    return nil
X-ART-1 ExtensionHandler.swift cardArt
    $0.id == paymentInstrumentId
    CardArt.named($0.artName)
    ?? CardArt.blank
X-DEL-1 ExtensionHandler.swift provision
    backEnd?.provision(paymentInstrumentId, sdkOutput: sdkOutput)
    catch
    return nil
X-AUTH-1 AuthorizationProvider.swift viewDidAppear
    super.viewDidAppear(animated)
    guard !hasAsked else { return }
    hasAsked = true
    authenticated ? .authorized : .canceled
X-AUTH-1 AuthorizationProvider.swift viewDidDisappear
    super.viewDidDisappear(animated)
    guard presentedViewController == nil
    report(.canceled)
X-AUTH-2 AuthorizationProvider.swift report
    let handler = completionHandler
    completionHandler = nil
    handler?(result)
X-CACHE-1 SharedStore.swift add
    lock.lock()
    read()?.cards.filter { $0.id != card.id }
    others + [card]).save()
X-CACHE-1 SharedStore.swift save
    JSONEncoder().encode(self)
    kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
    SecItemUpdate(
    if status == errSecItemNotFound { status = SecItemAdd(
    guard status == errSecSuccess else { throw
X-CACHE-1 SharedStore.swift read
    SecItemCopyMatching(
    == errSecSuccess
    return nil
    JSONDecoder().decode(SharedStore.self, from: data)
X-STATUS-3 CallTimer.swift stop
    uptimeNanoseconds - began) / 1_000_000
    Self.queue.async
"""
"""A rule, a file, one of its functions, and what stands in that function, in this order."""
STEPS = [
    (*found[1].split(), [line.strip() for line in found[2].splitlines()])
    for found in re.finditer(r"^(\S.*)\n((?:    .*\n)+)", SWIFT, re.MULTILINE)
]


@pytest.mark.rule(
    "B-CAN-1", "B-CAN-2", "B-START-1", "B-DEL-1", "B-DEL-3", "B-FIN-1", "X-ENTRIES-2", "X-AUTH-1", "X-AUTH-2"
)
@rows(("rule", "name", "function", "steps"), STEPS)
def test_a_swift_function_does_what_its_rule_asks_for_in_this_order(rule, name, function, steps):
    body, at = swift_function(name, function), 0
    for step in steps:
        assert step in body[at:], f"{rule}: {step}"
        at += body[at:].index(step) + len(step)


def test_swift_without_network_and_pictures_where_the_wallet_waits_100_ms():
    body = swift_function(HANDLER, "status")
    assert [word for word in ("await", "fetch", "backEnd", "CardArt") if word in body] == []
    assert "CardArt" not in code(f"swift/{HANDLER}").partition("override func status")[0]


@pytest.mark.rule("X-CACHE-1", "API-12")
def test_the_extension_ends_no_process_and_deletes_nothing():
    """Whatever the back end answers: the app alone writes what both share."""
    forbidden = ("fatalError", "preconditionFailure", "SharedStore.delete", ".save(")
    assert [word for word in forbidden if word in code(f"swift/{HANDLER}")] == []


@pytest.mark.parametrize("path", sorted((NATIVE / "kotlin").glob("*.kt")), ids=lambda path: path.name)
def test_kotlin_to_copy_names_its_imports_and_makes_no_thread_of_its_own(path):
    text = code(f"kotlin/{path.name}")
    assert re.findall(r"import \S+\.\*|\bthread \{", text) == []
    assert 'Page(AddButton.SHOWN, "' not in text, "an app's texts are in its resources"


@pytest.mark.rule("REL-5", "APP-7")
def test_a_call_that_is_cancelled_closes_its_connection_on_another_thread():
    """Platform A ends an app whose main thread touches the network."""
    text = code("kotlin/BackEnd.kt")
    assert "invokeOnCancellation { io.launch { runCatching { connection.disconnect() } } }" in text
    assert "io = CoroutineScope(SupervisorJob() + Dispatchers.IO)" in text


@pytest.mark.parametrize("name", ["isOnPhone", "isOnWatch", "ask"])
def test_what_an_app_has_to_write_does_not_compile_until_it_is_written(name):
    assert swift_function("YourApp.swift", name).startswith('#error("')


@pytest.mark.rule("REL-5")
def test_a_request_ends_with_the_task_that_waits_for_it():
    assert "answers.onTermination = { _ in call.cancel() }" in swift_function(BACK, "send")
    assert "guard !Task.isCancelled" in swift_function("AddCardModel.swift", "opened")


@pytest.mark.rule("REL-2", "REL-1")
def test_no_client_of_a_sample_app_follows_a_redirect_or_repeats_a_post():
    assert "delegate: NoRedirects()" in code(f"swift/{BACK}")
    kotlin = code("kotlin/BackEnd.kt")
    assert "instanceFollowRedirects = false" in kotlin
    assert "setFixedLengthStreamingMode(" in kotlin
