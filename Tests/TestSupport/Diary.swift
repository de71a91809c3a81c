import Synchronization

package final class Diary: Sendable {
    private let entries = Mutex<[String]>([])

    package init() {}

    package var lines: [String] { entries.withLock(\.self) }

    package func add(_ line: String) { entries.withLock { $0.append(line) } }
}
