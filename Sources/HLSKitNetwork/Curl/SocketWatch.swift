import Glibc
import HLSKitLoading
import Synchronization

/// Closes the connection of a server that keeps libcurl busy indefinitely.
///
/// libcurl reads frames without content (HTTP/2 `DATA` of no bytes, `PING`, `SETTINGS`…) in one call for as long as
/// they arrive. It calls no callback and checks no deadline during that time. This thread therefore watches from
/// outside. If a call produces no output for some seconds while a connection receives bytes, the thread shuts that
/// connection down. Its transfers then fail as with a lost connection. The thread sleeps while no request is active.
final class SocketWatch: Sendable {
    private struct Socket {
        /// The kernel's number of the socket, because another socket may reuse the descriptor.
        var inode: ino_t
        var receivedByteCount: UInt64
    }

    private struct State {
        var sockets: [Int32: Socket] = [:]
        var isStarted = false
        var isStopped = false
    }

    /// The number of consecutive checks, one second apart, without progress. A process that was suspended is checked
    /// only once.
    private static let patience = 3
    private static let period: Int32 = 1000

    private let state = Monitor(State())
    /// Increases with all output of libcurl. It is odd during a call.
    private let beats = Atomic<Int>(0)
    private let isActive = Atomic<Bool>(false)

    // MARK: The loop's side

    func enter() {
        if !isActive.exchange(true, ordering: .relaxed) { wake() }
        beats.add(1, ordering: .relaxed)
    }

    func leave() { beats.add(1, ordering: .relaxed) }

    /// Records progress in the middle of a call.
    func note() { beats.add(2, ordering: .relaxed) }

    /// Suspends the checks because no request is active.
    func rest() { isActive.store(false, ordering: .relaxed) }

    func add(_ descriptor: Int32) {
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else { return }
        state.withLock { $0.sockets[descriptor] = Socket(inode: status.st_ino, receivedByteCount: 0) }
    }

    func close(_ descriptor: Int32) -> Int32 {
        state.withLock { $0.sockets[descriptor] = nil }
        return Glibc.close(descriptor)
    }

    func stop() {
        state.signal { $0.isStopped = true }
    }

    private func wake() {
        state.signal { state in
            if !state.isStarted { state.isStarted = WorkerThread.start { [self] in run() } }
        }
    }

    // MARK: The thread

    private func run() {
        var silence = 0
        var last = 0
        while waitForWork() {
            poll(nil, 0, Self.period)
            let beat = beats.load(ordering: .relaxed)
            silence = beat == last && beat % 2 == 1 ? silence + 1 : 0
            last = beat
            look(cuts: silence >= Self.patience)
        }
    }

    /// Waits until a request is active. Returns false if the watch is stopped.
    private func waitForWork() -> Bool {
        state.wait { state in
            if state.isStopped { return false }
            return isActive.load(ordering: .relaxed) ? true : nil
        }
    }

    /// Records the bytes received since the last check and shuts down the connection that received most of them.
    private func look(cuts: Bool) {
        state.withLock { state in
            var busiest: (descriptor: Int32, byteCount: UInt64)?
            for (descriptor, socket) in state.sockets {
                guard let count = Self.receivedByteCount(descriptor) else { continue }
                let new = count &- socket.receivedByteCount
                state.sockets[descriptor]?.receivedByteCount = count
                if new > busiest?.byteCount ?? 0 { busiest = (descriptor, new) }
            }
            guard cuts, let busiest, let socket = state.sockets[busiest.descriptor] else { return }
            var status = stat()
            guard fstat(busiest.descriptor, &status) == 0, status.st_ino == socket.inode else { return }
            shutdown(busiest.descriptor, Int32(SHUT_RDWR))
        }
    }

    /// Bytes that TCP has received on a connection (`tcpi_bytes_received` of Linux 4.1 and later).
    private static func receivedByteCount(_ descriptor: Int32) -> UInt64? {
        // The C library's `tcp_info` ends before that member. Its offset is eight bytes, 24 numbers of 4 bytes and
        // three of 8 bytes.
        let offset = 8 + 24 * 4 + 3 * 8
        return withUnsafeTemporaryAllocation(byteCount: offset + 8, alignment: 8) { buffer in
            var length = socklen_t(buffer.count)
            guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, buffer.baseAddress, &length) == 0,
                Int(length) >= offset + 8
            else { return nil }
            return buffer.load(fromByteOffset: offset, as: UInt64.self)
        }
    }
}
