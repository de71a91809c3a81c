import FoundationEssentials
package import Glibc
import HLSKitCore
import Synchronization

/// A shell command that runs in parallel and whose standard output is read. It has its own process group, an empty
/// standard input, and inherits only standard error.
///
/// This type owns one descriptor and one process, and releases both before ``output(atMost:)`` returns.
package final class ShellProcess: Sendable {
    package struct Failure: Error {
        /// The `errno` value.
        package let code: Int32
    }

    private enum State {
        case running
        case terminated
        /// The process ID may already belong to another process.
        case over
    }

    /// How often to check a process whose output is idle but open, in milliseconds.
    private static let interval: Int32 = 100

    private let processID: pid_t
    private let output: Int32
    private let state = Mutex(State.running)

    /// - Parameter variables: Variables to add to the environment.
    package init(_ command: String, variables: [String: String]) throws(Failure) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure(code: errno) }
        defer { close(ends[1]) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let (id, code) = Self.spawn(command, variables: variables, inOwnGroup: true) { actions in
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        }
        guard code == 0 else {
            close(ends[0])
            throw Failure(code: code)
        }
        processID = id
        output = ends[0]
    }

    /// Returns the output up to a limit, and the exit status, which is 128 plus the signal number after a signal. Call
    /// it once.
    package func output(atMost limit: Int) async -> (bytes: [UInt8], status: Int32) {
        await withCheckedContinuation { continuation in
            let work: @Sendable () -> Void = { [self] in
                let bytes = read(atMost: limit)
                close(output)
                continuation.resume(returning: (bytes, wait()))
            }
            // If no thread can be started, wait on this one.
            if !WorkerThread.start(work) { work() }
        }
    }

    package func terminate() {
        state.withLock { state in
            guard case .running = state else { return }
            state = .terminated
            _ = kill(-processID, SIGTERM)
        }
    }

    private func read(atMost limit: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while bytes.count < limit {
            var request = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            let ready = poll(&request, 1, Self.interval)
            if ready == 0 {
                // Processes that it left running may keep its output open forever.
                if hasExited { break }
                continue
            }
            let count = ready < 0 ? -1 : Glibc.read(output, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += piece.prefix(count)
        }
        return Array(bytes.prefix(limit))
    }

    private var hasExited: Bool {
        var info = siginfo_t()
        let code = waitid(P_PID, id_t(processID), &info, WEXITED | WNOHANG | WNOWAIT)
        return code != 0 || info.si_signo != 0
    }

    private func wait() -> Int32 {
        var info = siginfo_t()
        // Do not reap the process until `terminate()` can no longer signal it.
        while waitid(P_PID, id_t(processID), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        state.withLock { $0 = .over }
        var status: Int32 = 0
        while waitpid(processID, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7f
        return signal == 0 ? (status >> 8) & 0xff : 128 + signal
    }

    /// Starts a shell with default signal handling and only the first three descriptors.
    ///
    /// - Parameters:
    ///   - variables: Variables to add to the environment.
    ///   - inOwnGroup: Whether the command is separate from the terminal's job.
    ///   - redirect: Sets up the first three descriptors.
    package static func spawn(
        _ command: String, variables: [String: String], inOwnGroup: Bool,
        redirect: (inout posix_spawn_file_actions_t) -> Void
    ) -> (id: pid_t, code: Int32) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        redirect(&actions)
        for descriptor in inheritedDescriptors { posix_spawn_file_actions_addclose(&actions, descriptor) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGPIPE] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        let group = inOwnGroup ? POSIX_SPAWN_SETPGROUP : 0
        posix_spawnattr_setflags(&attributes, Int16(group | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let environment = ProcessInfo.processInfo.environment.merging(variables) { _, new in new }
        var id: pid_t = 0
        let code = withCStrings(["sh", "-c", command]) { arguments in
            withCStrings(environment.map { "\($0.key)=\($0.value)" }) { variables in
                posix_spawn(&id, "/bin/sh", &actions, &attributes, arguments, variables)
            }
        }
        return (id, code)
    }

    private static var inheritedDescriptors: [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.compactMap { Int32($0) }.filter { descriptor in
            let flags = fcntl(descriptor, F_GETFD)
            return descriptor > 2 && flags >= 0 && flags & FD_CLOEXEC == 0
        }
    }

    private static func withCStrings(
        _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Int32
    ) -> Int32 {
        let strings = texts.map { strdup($0) }
        defer { for string in strings { free(string) } }
        return body(strings + [nil])
    }
}
