// As much of the platform's module as the stand-in uses, so that its branch for the platform is compiled.
import Foundation

public typealias CFData = Data

public final class CGColorSpace: Sendable {}

public func CGColorSpaceCreateDeviceGray() -> CGColorSpace { CGColorSpace() }

public final class CGDataProvider: Sendable {
    public let data: CFData?

    public init?(data: CFData) { self.data = data }
}

public enum CGImageAlphaInfo: UInt32 { case none }

public struct CGBitmapInfo: OptionSet, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

public enum CGColorRenderingIntent: Sendable { case defaultIntent }

public final class CGImage: Sendable {
    public let dataProvider: CGDataProvider?

    public init?(
        width: Int, height: Int, bitsPerComponent: Int, bitsPerPixel: Int, bytesPerRow: Int, space: CGColorSpace,
        bitmapInfo: CGBitmapInfo, provider: CGDataProvider, decode: UnsafePointer<CGFloat>?, shouldInterpolate: Bool,
        intent: CGColorRenderingIntent
    ) {
        dataProvider = provider
    }
}
