@MainActor
open class NSViewController {
    public init() {}
}
