import Foundation
import Synchronization

package struct LoopbackListener: Sendable {
    package let descriptor: Int32
    package let port: Int

    package init() throws {
        // CLOEXEC, so that a process started by another test does not hold the connection open.
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = Self.address(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 64) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    package func close() {
        // Wakes the thread that waits in `accept`.
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
        _ = Glibc.close(descriptor)
    }

    static func address(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}

/// A server that follows a script, for behaviour that no correct server shows.
package final class ScriptedServer: Sendable {
    /// One accepted connection, on its own thread. Calls after it has ended do nothing.
    package struct Connection: Sendable {
        fileprivate let descriptor: Int32
        package let server: ScriptedServer

        /// Reads the lines of the next request, without the empty one. Returns `nil` if the client has closed.
        package func readRequest() -> [String]? {
            var head: [UInt8] = []
            var byte: UInt8 = 0
            while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
                guard recv(descriptor, &byte, 1, 0) == 1 else { return nil }
                head.append(byte)
            }
            let lines = String(decoding: head.dropLast(4), as: UTF8.self).components(separatedBy: "\r\n")
            server.log.withLock { $0.append(lines) }
            return lines
        }

        /// Reads the next bytes, or fewer if the client has closed.
        package func read(_ count: Int) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: count)
            var length = 0
            while length < count {
                let got = bytes.withUnsafeMutableBytes {
                    recv(descriptor, $0.baseAddress?.advanced(by: length), count - length, 0)
                }
                guard got > 0 else { break }
                length += got
            }
            return Array(bytes.prefix(length))
        }

        /// - Returns: `false` if the client has closed.
        @discardableResult
        package func send(_ bytes: some Collection<UInt8>) -> Bool {
            let bytes = Array(bytes)
            var offset = 0
            while offset < bytes.count {
                let count = bytes.withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress?.advanced(by: offset), $0.count - offset, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return false }
                offset += count
            }
            return true
        }

        /// Sends the text without converting `\n`.
        @discardableResult
        package func send(_ text: String) -> Bool { send(text.utf8) }

        package func respond(_ body: some Collection<UInt8>, status: String = "200 OK", fields: [String] = []) {
            let lines = ["HTTP/1.1 \(status)", "Content-Length: \(body.count)"] + fields
            send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + Array(body))
        }

        package func redirect(to location: String, status: Int = 302) {
            respond([], status: "\(status) Moved", fields: ["Location: \(location)"])
        }

        package func waitForClose() {
            var byte: UInt8 = 0
            while recv(descriptor, &byte, 1, 0) > 0 {}
        }

        package func isClosed(within seconds: Double) -> Bool {
            var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            return Glibc.poll(&poll, 1, Int32(seconds * 1000)) > 0
        }

        /// Ends the connection after sending all pending data.
        package func hangUp() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

        package func reset() {
            var value = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
        }
    }

    private let listener: LoopbackListener
    private let log = Mutex<[[String]]>([])
    private let open = Mutex<Set<Int32>>([])
    private let accepted = Mutex(0)

    package var url: String { "http://127.0.0.1:\(listener.port)" }
    package var port: Int { listener.port }
    package var requests: [[String]] { log.withLock { $0 } }
    package func values(of name: String) -> [String?] {
        requests.map { lines in
            lines.first { $0.lowercased().hasPrefix(name.lowercased() + ":") }
                .map { $0.drop { $0 != ":" }.dropFirst().trimmingCharacters(in: .whitespaces) }
        }
    }
    package var connectionCount: Int { accepted.withLock { $0 } }

    /// - Parameter script: Handles each connection, given its number from 0. The connection is closed when it returns.
    package init(accepting script: @escaping @Sendable (Connection, Int) -> Void) throws {
        listener = try LoopbackListener()
        let descriptor = listener.descriptor
        // The thread holds the server weakly and ends when the listener is closed.
        Thread.detachNewThread { [weak self] in
            while true {
                let client = accept(descriptor, nil, nil)
                _ = fcntl(client, F_SETFD, FD_CLOEXEC)
                guard client >= 0, let self else {
                    if client >= 0 { close(client) }
                    return
                }
                let number = self.accepted.withLock { count in
                    defer { count += 1 }
                    return count
                }
                self.open.withLock { _ = $0.insert(client) }
                Thread.detachNewThread {
                    script(Connection(descriptor: client, server: self), number)
                    self.open.withLock { _ = $0.remove(client) }
                    close(client)
                }
            }
        }
    }

    package convenience init(answering answer: @escaping @Sendable (Connection, [String]) -> Void) throws {
        try self.init(accepting: { connection, _ in
            while let request = connection.readRequest() { answer(connection, request) }
        })
    }

    package func stop() {
        listener.close()
        open.withLock { for client in $0 { _ = shutdown(client, Int32(SHUT_RDWR)) } }
    }
}

package func withServer<Result>(
    accepting script: @escaping @Sendable (ScriptedServer.Connection, Int) -> Void,
    _ body: (ScriptedServer) async throws -> Result
) async throws -> Result {
    let server = try ScriptedServer(accepting: script)
    defer { server.stop() }
    return try await body(server)
}

package func withServer<Result>(
    answering answer: @escaping @Sendable (ScriptedServer.Connection, [String]) -> Void,
    _ body: (ScriptedServer) async throws -> Result
) async throws -> Result {
    let server = try ScriptedServer(answering: answer)
    defer { server.stop() }
    return try await body(server)
}
