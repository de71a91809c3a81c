import Foundation
import Glibc
import HLSKitCore
import Synchronization

/// `--refresh-cmd`: a command that prints a fresh URL where the one that plays runs out.
struct RefreshCommand: URLRefresher {
    /// Given to `/bin/sh -c`.
    let command: String
    var deadline: Duration { .seconds(30) }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// A URL is one line, and no longer than this.
    private static let maximumByteCount = 64 << 10

    func freshURL(insteadOf expired: ExpiredURL) async throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        process.environment = ProcessInfo.processInfo.environment.merging([
            "HLSGET_URL": expired.itemURL, "HLSGET_FAILED_URL": expired.url, "HLSGET_STATUS": "\(expired.status)",
        ]) { _, new in new }
        let output = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        let (statuses, ended) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { process in
            ended.yield(process.terminationStatus)
            ended.finish()
        }
        let running = Running()
        do { try process.run() } catch { throw Failure(description: "cannot run /bin/sh: \(error)") }
        running.start(process.processIdentifier)
        return try await withTaskCancellationHandler {
            let bytes = await Self.read(output)
            var status: Int32 = 0
            for await value in statuses { status = value }
            running.finish()
            guard status == 0 else { throw Failure(description: "\"\(command)\" ended with \(status)") }
            let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
            guard lines.count == 1, let url = lines.first else {
                throw Failure(description: "\"\(command)\" printed \(lines.count) lines instead of a URL")
            }
            return url.trimmingCharacters(in: .whitespaces)
        } onCancel: {
            running.kill()
        }
    }

    /// All that comes, up to the limit. On a thread of its own: it waits for as long as the command does.
    private static func read(_ output: Pipe) async -> Data {
        let descriptor = output.fileHandleForReading.fileDescriptor
        let bytes = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var bytes: [UInt8] = []
                var piece = [UInt8](repeating: 0, count: 4096)
                while bytes.count <= maximumByteCount {
                    let count = Glibc.read(descriptor, &piece, piece.count)
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { break }
                    bytes += piece.prefix(count)
                }
                continuation.resume(returning: bytes)
            }
        }
        return withExtendedLifetime(output) { Data(bytes.prefix(maximumByteCount)) }
    }

    /// The command while it runs, with all that it has started.
    private final class Running: Sendable {
        private let processID = Mutex<pid_t?>(nil)

        func start(_ id: pid_t) { processID.withLock { $0 = id } }
        func finish() { processID.withLock { $0 = nil } }

        func kill() {
            guard let id = processID.withLock({ $0 }) else { return }
            // Foundation gives each process a group of its own.
            if getpgid(id) == id { _ = Glibc.kill(-id, SIGTERM) } else { _ = Glibc.kill(id, SIGTERM) }
        }
    }
}
