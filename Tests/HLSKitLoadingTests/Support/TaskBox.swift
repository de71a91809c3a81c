import HLSKitCore
import Synchronization

final class TaskBox: Sendable {
    private let stored = Mutex<(any TransportTask)?>(nil)

    var task: (any TransportTask)? { stored.withLock { $0 } }

    func set(_ task: any TransportTask) { stored.withLock { $0 = task } }
}
