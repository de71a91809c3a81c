import Glibc
import HLSGetKit
import HLSKitCore
import Synchronization

/// A program of the user that gets what is played on its standard input (`--player`).
///
/// Unlike ``ShellProcess`` it is part of the terminal's job: it may read keys, and Ctrl-C reaches it too. Owns the pipe until
/// ``handOver()``, and the process until ``end()``.
final class PlayerProgram: Sendable {
    /// The pipe, as a writer opens it.
    let path: String

    private let command: String
    private let processID: pid_t
    /// Both ends: a pipe that nobody reads any more cannot be opened.
    private let ends: Mutex<[Int32]>

    /// Starts it.
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

    /// Whoever writes has opened the pipe: it ends when that is closed.
    func handOver() {
        ends.withLock { ends in
            for end in ends { close(end) }
            ends = []
        }
    }

    /// Whether what failed is that the program takes nothing more.
    func hasLeft(by error: HLSError) -> Bool {
        let writing = error.underlyingError as? HLSError ?? error
        return writing.code == .brokenPipe && writing.path == path
    }

    /// Waits until it has ended. Called once, when everything is written.
    ///
    /// - Returns: what is wrong with how it ended.
    func end() async -> HLSError? {
        handOver()
        let status: Int32 = await withCheckedContinuation { continuation in
            // It plays on for as long as it likes.
            let work: @Sendable () -> Void = { [processID] in
                var status: Int32 = 0
                while waitpid(processID, &status, 0) < 0, errno == EINTR {}
                continuation.resume(returning: status)
            }
            // Without a thread left it is done here.
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
