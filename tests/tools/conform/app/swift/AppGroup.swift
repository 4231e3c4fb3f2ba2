// No app group on a plain computer: the timer writes nothing.
import Foundation

extension FileManager {
    func containerURL(forSecurityApplicationGroupIdentifier group: String) -> URL? { nil }
}
