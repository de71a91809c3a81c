import Glibc
import HLSKitLoading
import Synchronization

/// Cuts the connection of a server that keeps libcurl busy without end.
///
/// Frames that carry nothing (HTTP/2 `DATA` of no bytes, `PING`, `SETTINGS`…) are read inside one call of libcurl for as
/// long as they come: no callback is called, and no deadline is looked at. So a thread looks from outside: where nothing has
/// come out of a call for some seconds in which a connection received bytes, that connection is shut down; its transfers
/// end as lost connections do. It rests while nothing is loaded.
final class SocketWatch: Sendable {
    private struct Socket {
        /// The kernel's number of the socket: a descriptor may be another one's by now.
        var inode: ino_t
        var receivedByteCount: UInt64
    }

    private struct State {
        var sockets: [Int32: Socket] = [:]
        var isStarted = false
        var isStopped = false
    }

    /// Looks in a row at which nothing has happened, a second apart: a process that was stopped is looked at once.
    private static let patience = 3
    private static let period: Int32 = 1000

    private let state = Monitor(State())
    /// Goes on whenever anything comes out of libcurl; odd while a call is under way.
    private let beats = Atomic<Int>(0)
    private let isActive = Atomic<Bool>(false)

    // MARK: The loop's side

    /// A call of libcurl begins.
    func enter() {
        if !isActive.exchange(true, ordering: .relaxed) { wake() }
        beats.add(1, ordering: .relaxed)
    }

    /// The call has ended.
    func leave() { beats.add(1, ordering: .relaxed) }

    /// Something came in the middle of a call.
    func note() { beats.add(2, ordering: .relaxed) }

    /// Nothing is loaded: there is nothing to look at.
    func rest() { isActive.store(false, ordering: .relaxed) }

    func add(_ descriptor: Int32) {
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else { return }
        state.withLock { $0.sockets[descriptor] = Socket(inode: status.st_ino, receivedByteCount: 0) }
    }

    /// Closes a socket, which nobody looks at any more then.
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

    /// Rests while nothing is loaded; false when the watch is stopped.
    private func waitForWork() -> Bool {
        state.wait { state in
            if state.isStopped { return false }
            return isActive.load(ordering: .relaxed) ? true : nil
        }
    }

    /// Notes what has been received since the last look, and shuts the connection down that has received most of it.
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
        // The C library's `tcp_info` ends before that member: eight bytes, then 24 numbers of 4 and three of 8.
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
