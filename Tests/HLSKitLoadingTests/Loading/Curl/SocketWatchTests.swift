import Glibc
import TestSupport
import Testing

@testable import HLSKitNetwork

@Suite("Connections that keep libcurl busy", .timeLimit(.minutes(10)))
struct SocketWatchTests {
    private static func connect(to server: ScriptedServer) throws -> Int32 {
        let port = try #require(server.url.split(separator: ":").last.flatMap { UInt16($0) })
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(result == 0)
        return descriptor
    }

    private static func read(_ descriptor: Int32, until isEnough: () -> Bool) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while !isEnough(), recv(descriptor, &buffer, buffer.count, 0) > 0 {}
    }

    @Test("if a call delivers nothing, only the connection that keeps receiving is cut")
    func flood() throws {
        let piece = [UInt8](repeating: 0, count: 1 << 14)
        let flooding = try ScriptedServer(accepting: { connection, _ in while connection.send(piece) {} })
        defer { flooding.stop() }
        let silent = try ScriptedServer(accepting: { connection, _ in
            _ = connection.readRequest()
        })
        defer { silent.stop() }
        let watch = SocketWatch()
        defer { watch.stop() }
        let (busy, idle) = (try Self.connect(to: flooding), try Self.connect(to: silent))
        watch.add(busy)
        watch.add(idle)
        watch.enter()
        Self.read(busy) { false }
        var byte: UInt8 = 0
        let count = recv(idle, &byte, 1, Int32(MSG_DONTWAIT))
        #expect(count < 0, "it is still open")
        for descriptor in [busy, idle] { #expect(watch.close(descriptor) == 0) }
    }

    @Test("a call that delivers bytes is not interrupted, however long it lasts")
    func delivering() throws {
        let piece = [UInt8](repeating: 0, count: 1 << 14)
        let flooding = try ScriptedServer(accepting: { connection, _ in while connection.send(piece) {} })
        defer { flooding.stop() }
        let watch = SocketWatch()
        defer { watch.stop() }
        let busy = try Self.connect(to: flooding)
        watch.add(busy)
        watch.enter()
        let clock = ContinuousClock()
        let began = clock.now
        Self.read(busy) {
            watch.note()
            return clock.now - began > .seconds(6)
        }
        #expect(clock.now - began > .seconds(6), "it was cut")
        #expect(watch.close(busy) == 0)
    }
}
