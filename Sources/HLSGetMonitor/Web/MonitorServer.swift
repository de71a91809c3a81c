import Glibc
import HLSGetKit
import HLSKitCore
import Synchronization

/// The monitor's HTTP server: handles GET requests on one port, on its own thread.
///
/// It is deliberately small. Each connection carries one request. Heads, connections, time and the backlog of slow
/// readers are limited.
final class MonitorServer: Sendable {
    struct Failure: Error {
        var description: String
    }

    static let maximumConnectionCount = 64
    /// The maximum number of event readers among the connections.
    static let maximumReaderCount = 16

    /// The port it listens on: the requested one, or one that the system has assigned.
    let port: Int
    private let listener: Int32
    private let wake: (read: Int32, write: Int32)
    private let clock: SourceClock
    private let answer: @Sendable (String) -> HTTPAnswer

    private struct Inbox {
        var events: [[UInt8]] = []
        var isClosed = false
    }
    private let inbox = Mutex(Inbox())
    private static let maximumEventCount = 100

    /// - Parameters:
    ///   - address: A numeric IPv4 or IPv6 address.
    ///   - port: The port, or 0 for any free one.
    ///   - answer: Called for each path on the server's thread.
    init(
        address: String, port: Int, clock: SourceClock, answer: @escaping @Sendable (String) -> HTTPAnswer
    ) throws(Failure) {
        listener = try Self.listen(address, port)
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            Glibc.close(listener)
            throw Failure(description: String(cString: strerror(errno)))
        }
        for end in ends { Self.prepare(end) }
        wake = (ends[0], ends[1])
        self.port = Self.port(of: listener)
        self.clock = clock
        self.answer = answer
        guard WorkerThread.start({ [self] in run() }) else {
            for descriptor in [listener] + ends { Glibc.close(descriptor) }
            throw Failure(description: "cannot start a thread")
        }
    }

    func send(event text: String) {
        inbox.withLock { inbox in
            // If the thread falls behind, skip this event; readers get the next one.
            if inbox.events.count < Self.maximumEventCount { inbox.events.append(Array(text.utf8)) }
        }
        ring()
    }

    /// Ends all connections. Returns immediately.
    func close() {
        inbox.withLock { $0.isClosed = true }
        ring()
    }

    private func ring() {
        var byte: UInt8 = 0
        // A full pipe already wakes the thread.
        _ = write(wake.write, &byte, 1)
    }

    // MARK: Sockets

    private static func listen(_ address: String, _ port: Int) throws(Failure) -> Int32 {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address, String(port), &hints, &list) == 0, let list else {
            throw Failure(description: "\(address) is not a numeric address")
        }
        defer { freeaddrinfo(list) }
        let descriptor = socket(list.pointee.ai_family, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(description: String(cString: strerror(errno))) }
        prepare(descriptor)
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard bind(descriptor, list.pointee.ai_addr, list.pointee.ai_addrlen) == 0, Glibc.listen(descriptor, 64) == 0
        else {
            let text = String(cString: strerror(errno))
            Glibc.close(descriptor)
            throw Failure(description: text)
        }
        return descriptor
    }

    /// Makes a descriptor non-blocking and closes it in child processes.
    private static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    private static func port(of descriptor: Int32) -> Int {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        // Both kinds of address have the port at the same offset, in network byte order.
        return withUnsafeMutableBytes(of: &storage) { bytes in
            guard let base = bytes.baseAddress else { return 0 }
            guard getsockname(descriptor, base.assumingMemoryBound(to: sockaddr.self), &length) == 0 else { return 0 }
            return Int(bytes[2]) << 8 | Int(bytes[3])
        }
    }

    // MARK: The thread

    private func run() {
        var connections: [Int32: ServerConnection] = [:]
        defer {
            for descriptor in Array(connections.keys) + [listener, wake.read, wake.write] { Glibc.close(descriptor) }
        }
        while true {
            var requests = [pollfd(fd: wake.read, events: Int16(POLLIN), revents: 0)]
            if connections.count < Self.maximumConnectionCount {
                requests.append(pollfd(fd: listener, events: Int16(POLLIN), revents: 0))
            }
            for (descriptor, connection) in connections {
                var events = Int16(0)
                // An event reader sends nothing more, but poll it to detect its end.
                if connection.wantsInput || connection.takesEvents { events |= Int16(POLLIN) }
                if connection.hasOutput { events |= Int16(POLLOUT) }
                requests.append(pollfd(fd: descriptor, events: events, revents: 0))
            }
            _ = poll(&requests, nfds_t(requests.count), timeout(of: connections))
            let events = inbox.withLock { inbox -> [[UInt8]]? in
                defer { inbox.events = [] }
                return inbox.isClosed ? nil : inbox.events
            }
            guard let events else { return }
            let now = clock.now.offset
            for request in requests where request.revents != 0 {
                switch request.fd {
                case wake.read: drain(wake.read)
                case listener: accept(&connections, at: now)
                default: serve(request.fd, &connections, at: now)
                }
            }
            for descriptor in Array(connections.keys) {
                for event in events { connections[descriptor]?.send(event: event, at: now) }
                flush(descriptor, &connections, at: now)
                guard let connection = connections[descriptor] else { continue }
                if connection.isOver || connection.deadline.map({ $0 <= now }) == true {
                    Glibc.close(descriptor)
                    connections[descriptor] = nil
                }
            }
        }
    }

    /// Milliseconds until the next deadline.
    private func timeout(of connections: [Int32: ServerConnection]) -> Int32 {
        guard let next = connections.values.compactMap(\.deadline).min() else { return 60_000 }
        let left = (next - clock.now.offset).inSeconds * 1000
        return Int32(min(60_000, max(0, left.rounded(.up))))
    }

    private func accept(_ connections: inout [Int32: ServerConnection], at now: Duration) {
        while connections.count < Self.maximumConnectionCount {
            let descriptor = Glibc.accept(listener, nil, nil)
            guard descriptor >= 0 else { return }
            Self.prepare(descriptor)
            connections[descriptor] = ServerConnection(at: now)
        }
    }

    private func serve(_ descriptor: Int32, _ connections: inout [Int32: ServerConnection], at now: Duration) {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else {
            // A client that has sent its whole request may close its sending side and still read, until the deadline.
            if connections[descriptor]?.wantsInput ?? true || connections[descriptor]?.takesEvents ?? true {
                connections[descriptor]?.end()
            }
            return
        }
        let readerCount = connections.values.count(where: \.takesEvents)
        connections[descriptor]?.receive(bytes[..<count], at: now) { path in
            let answer = answer(path)
            guard answer.isEventStream, readerCount >= Self.maximumReaderCount else { return answer }
            return .text("too many readers", status: 503)
        }
    }

    private func flush(_ descriptor: Int32, _ connections: inout [Int32: ServerConnection], at now: Duration) {
        while let connection = connections[descriptor], connection.hasOutput {
            let count = connection.pending.withUnsafeBytes { bytes in
                Glibc.send(
                    descriptor, bytes.baseAddress, min(bytes.count, 1 << 20),
                    Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return }
            guard count > 0 else {
                connections[descriptor]?.end()
                return
            }
            connections[descriptor]?.noteSent(count, at: now)
        }
    }

    private func drain(_ descriptor: Int32) {
        var bytes = [UInt8](repeating: 0, count: 256)
        while read(descriptor, &bytes, bytes.count) > 0 {}
    }
}
