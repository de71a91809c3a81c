import Foundation
import Synchronization

package struct Command: Sendable {
    package struct Result: Sendable {
        /// The exit code, or 128 plus the signal number if a signal ended the program.
        package var status: Int32
        package var output: [UInt8]
        package var errors: String

        package var lines: [String] { errors.split(separator: "\n").map(String.init) }
        package var errorLines: [String] { lines.filter { $0.hasPrefix("hlsget: error: ") } }
    }

    private let child: Child
    private let scratch: ScratchFolder

    package static let productFolder: String = {
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return String(program[..<(program.lastIndex(of: "/") ?? program.startIndex)])
    }()

    package static func hlsget(
        _ arguments: [String], in folder: String = "/tmp", input: String = "/dev/null"
    ) throws -> Command {
        try Command([productFolder + "/hlsget"] + arguments, in: folder, input: input)
    }

    package init(_ arguments: [String], in folder: String = "/tmp", input: String = "/dev/null") throws {
        scratch = try ScratchFolder()
        let standardInput = open(input, O_RDONLY | O_CLOEXEC)
        defer { close(standardInput) }
        child = Child(
            try Tool.spawn(
                arguments, in: folder, input: standardInput, output: scratch.path + "/output",
                errors: scratch.path + "/errors"))
    }

    package func send(signal: Int32) { child.send(signal) }

    /// Waits for the process to end.
    package func result() async throws -> Result {
        let status = await child.status()
        let signal = status & 0x7F
        return Result(
            status: signal == 0 ? (status >> 8) & 0xFF : 128 + signal, output: Self.contents(scratch.path + "/output"),
            errors: errors)
    }

    package var errors: String { String(decoding: Self.contents(scratch.path + "/errors"), as: UTF8.self) }

    package func waitForErrors(containing text: String) -> Bool { wait { errors.contains(text) } }

    /// Waits until `holds` returns `true`, for at most two minutes. A busy machine must not fail the test.
    package func wait(until holds: () -> Bool) -> Bool {
        for _ in 0..<24_000 {
            if holds() { return true }
            usleep(5000)
        }
        return false
    }

    private static func contents(_ path: String) -> [UInt8] {
        Array(FileManager.default.contents(atPath: path) ?? Data())
    }
}

/// Reaps a process as soon as it ends. While one that has ended is not reaped, the thread of Swift Testing that waits for
/// exit tests occupies a processor.
private final class Child: Sendable {
    private let id: pid_t
    private let hasEnded = Mutex(false)
    private let statuses: AsyncStream<Int32>

    init(_ id: pid_t) {
        self.id = id
        let (statuses, sink) = AsyncStream.makeStream(of: Int32.self)
        self.statuses = statuses
        // Not a thread of the Swift pool, because it blocks.
        Thread.detachNewThread { [self] in
            var info = siginfo_t()
            while waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
            var status: Int32 = 0
            hasEnded.withLock { hasEnded in
                waitpid(id, &status, 0)
                hasEnded = true
            }
            sink.yield(status)
            sink.finish()
        }
    }

    func send(_ signal: Int32) {
        hasEnded.withLock { hasEnded in
            if !hasEnded { kill(id, signal) }
        }
    }

    func status() async -> Int32 {
        for await status in statuses { return status }
        return 0
    }
}
