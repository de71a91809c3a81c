import Foundation
import Synchronization

package final class FaultyOrigin: Sendable {
    package enum Fault: Sendable, Hashable {
        case status(String)
        case bytes([UInt8])
        /// A body whose length is not declared.
        case chunked([UInt8])
        case silence
    }

    private let files: [String: [UInt8]]
    /// The faults of the next requests by file name. With a count of `.max`, the fault never ends.
    private let faults: Mutex<[String: (fault: Fault, count: Int)]>

    package init(_ files: [String: [UInt8]], _ faults: [String: (fault: Fault, count: Int)] = [:]) {
        self.files = files
        self.faults = Mutex(faults)
    }

    package static let page = Array("<!DOCTYPE html><html><body>Your session has expired.</body></html>".utf8)

    @Sendable package func answer(_ connection: ScriptedServer.Connection, _ request: [String]) {
        let target = String(request.first?.split(separator: " ").dropFirst().first ?? "")
        let name = String(target.prefix { $0 != "?" }.split(separator: "/").last ?? "")
        let fault = faults.withLock { faults -> Fault? in
            guard let (fault, count) = faults[name], count > 0 else { return nil }
            faults[name] = (fault, count - 1)
            return fault
        }
        switch fault {
        case .status(let status): return connection.respond([], status: status)
        case .bytes(let bytes): return connection.respond(bytes)
        case .chunked(let bytes):
            let size = String(bytes.count, radix: 16)
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(size)\r\n"
            connection.send(Array(head.utf8) + bytes + Array("\r\n0\r\n\r\n".utf8))
            return
        case .silence: return connection.waitForClose()
        case nil: break
        }
        guard let bytes = files[name] else { return connection.respond([], status: "404 Not Found") }
        connection.respond(bytes)
    }

    package static func frames(_ name: String, in folder: ScratchFolder) async throws -> [String] {
        let result = try await hlsget("--fast", "-f", "framemd5", "--no-audio", name, in: folder)
        guard result.status == 0 else { throw Tool.Failure(description: result.errors) }
        return String(decoding: result.output, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map { String($0.split(separator: " ").last?.prefix(8) ?? "") }
    }
}
