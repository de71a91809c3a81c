import Foundation
import Synchronization

/// The file that a session is writing.
///
/// `removeEmpty()` deletes the file if nothing could be written to it. A full disk makes the player restart a channel
/// every half minute, and each restart would leave an empty file.
final class BegunFiles: Sendable {
    private let last = Mutex<String?>(nil)

    func note(_ path: String) { last.withLock { $0 = path } }

    func removeEmpty() {
        guard let path = last.withLock({ $0.map { $0 + ".part" } }),
            let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int, size == 0
        else { return }
        try? FileManager.default.removeItem(atPath: path)
    }
}
