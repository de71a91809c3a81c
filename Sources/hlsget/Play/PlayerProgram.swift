import Glibc
import HLSGetKit
import HLSKitCore
import Synchronization

/// A program that receives the played media on its standard input (`--player`).
///
/// Unlike ``ShellProcess`` it belongs to the terminal's job: it can read keys, and Ctrl-C reaches it. This type owns
/// the pipe until ``handOver()``, and the process until ``end()``.
final class PlayerProgram: Sendable {
    let path: String

    private let command: String
    private let processID: pid_t
    /// Both ends, because a pipe without a reader cannot be opened.
    private let ends: Mutex<[Int32]>

    init(_ command: String) throws(HLSError) {
        self.command = command
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Self.failure(command, String(cString: strerror(errno))) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let (id, code) = ShellProcess.spawn(command, variables: [:], inOwnGroup: false) { actions in
            posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
        }
        guard code == 0 else {
            for end in ends { close(end) }
            throw Self.failure(command, String(cString: strerror(code)))
        }
        processID = id
        self.ends = Mutex(ends)
        path = "/dev/fd/\(ends[1])"
    }

    deinit { handOver() }

    /// Closes our ends after the writer has opened the pipe, which then ends with the writer.
    func handOver() {
        ends.withLock { ends in
            for end in ends { close(end) }
            ends = []
        }
    }

    /// Whether an error only means that the program has stopped reading.
    func hasLeft(by error: HLSError) -> Bool {
        let writing = error.underlyingError as? HLSError ?? error
        return writing.code == .brokenPipe && writing.path == path
    }

    /// Waits for the program's exit. Call it once, after all media is written.
    ///
    /// - Returns: An error if the program failed.
    func end() async -> HLSError? {
        handOver()
        let status: Int32 = await withCheckedContinuation { continuation in
            // The program may continue for any time.
            let work: @Sendable () -> Void = { [processID] in
                var status: Int32 = 0
                while waitpid(processID, &status, 0) < 0, errno == EINTR {}
                continuation.resume(returning: status)
            }
            // If no thread can be started, wait on this one.
            if !WorkerThread.start(work) { work() }
        }
        let signal = status & 0x7f
        let code = (status >> 8) & 0xff
        guard signal != 0 || code != 0 else { return nil }
        return Self.failure(command, signal == 0 ? "it ended with \(code)" : "signal \(signal) ended it")
    }

    private static func failure(_ command: String, _ detail: String) -> HLSError {
        HLSError(code: .output, cause: "the player failed: \(command)", detail: detail)
    }
}
