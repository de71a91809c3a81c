import Synchronization

/// Lines that tasks write, in their order.
final class Diary: Sendable {
    private let entries = Mutex<[String]>([])

    var lines: [String] { entries.withLock(\.self) }

    func add(_ line: String) { entries.withLock { $0.append(line) } }
}
