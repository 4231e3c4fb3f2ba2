// As much of the platform's modules as the stand-in and the files to copy use.
@_exported import CoreGraphics

@MainActor
open class UIViewController {
    public init() {}
    open var presentedViewController: UIViewController? { nil }
    open func viewDidAppear(_ animated: Bool) {}
    open func viewDidDisappear(_ animated: Bool) {}
}

public struct CGSize: Sendable {
    public init(width: Int, height: Int) {}
}

public final class UIImage: Sendable {
    public init?(named: String) {}
    public var cgImage: CGImage? { nil }
}

public final class UIGraphicsImageRenderer {
    public struct Context {}

    public init(size: CGSize) {}
    public func image(actions: (Context) -> Void) -> UIImage { UIImage(named: "")! }
}
