import Foundation
import Synchronization

/// The file that a turn writes now. Where nothing could be written to it, on a full disk, nothing is left of it: a channel is begun
/// anew every half minute until there is room.
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
