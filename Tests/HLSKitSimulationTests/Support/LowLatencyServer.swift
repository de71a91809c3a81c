import Foundation
import HLSKitCore
import HLSKitSimulation
import Synchronization
import TestSupport

/// Serves a ``LowLatencyOrigin`` on a socket in real time, over HTTP/1.1. Each blocking request has its own connection.
final class LowLatencyServer: Sendable {
    struct Visit: Sendable {
        var path: String
        var connection: Int
        /// Whether the response is delayed.
        var isHeld = false
        /// Whether the client closed the connection during a blocking request.
        var wasLeft = false
        /// Whether the server closed the connection instead of responding.
        var wasCut = false
        var wasAnswered = false
    }

    enum Connections: Sendable {
        case kept
        case closed
        /// The blocking request with this number loses its connection.
        case cut(held: Int)
    }

    private final class State: Sendable {
        let visits = Mutex<[Visit]>([])
        let heldCount = Mutex(0)
    }

    private let server: ScriptedServer
    private let state = State()

    var port: Int { server.port }
    var visits: [Visit] { state.visits.withLock { $0 } }
    var lists: [Visit] { visits.filter { $0.path.contains("live.m3u8") } }
    /// The blocking requests that still wait for their response.
    var waiting: [Visit] { visits.filter { $0.isHeld && !$0.wasLeft && !$0.wasCut && !$0.wasAnswered } }
    /// The names of requested parts and segments in order, without requests that lost their connection.
    var media: [String] {
        visits.filter { $0.path.hasSuffix(".m4s") && !$0.wasCut }.map { String($0.path.dropFirst(3).dropLast(4)) }
    }
    /// The playlist of the better variant.
    var url: String { "\(server.url)/1/live.m3u8" }

    init(_ origin: LowLatencyOrigin, _ connections: Connections = .kept) throws {
        let start = ContinuousClock.now
        let base = origin.url.dropLast("/index.m3u8".count)
        server = try ScriptedServer { [state] connection, number in
            while let head = connection.readRequest() {
                let words = head.first?.split(separator: " ") ?? []
                guard words.count == 3 else { return }
                let path = String(words[1])
                let index = state.visits.withLock { visits in
                    visits.append(Visit(path: path, connection: number))
                    return visits.count - 1
                }
                let request = Self.request(base + path, at: ContinuousClock.now - start)
                let answer = origin.response(to: request)
                if answer.delay > .zero {
                    state.visits.withLock { $0[index].isHeld = true }
                    let held = state.heldCount.withLock { count in
                        count += 1
                        return count
                    }
                    if case .cut(held) = connections {
                        state.visits.withLock { $0[index].wasCut = true }
                        return
                    }
                    // Clients send no second request on this connection, so any activity is its end.
                    if connection.isClosed(within: answer.delay / .seconds(1)) {
                        state.visits.withLock { $0[index].wasLeft = true }
                        return
                    }
                }
                var fields = ["Content-Type: \(answer.contentType ?? "text/plain")"]
                if case .closed = connections { fields.append("Connection: close") }
                connection.respond(answer.body, status: "\(answer.status) Status", fields: fields)
                state.visits.withLock { $0[index].wasAnswered = true }
                if case .closed = connections { return }
            }
        }
    }

    private static func request(_ url: String, at time: Duration) -> SimulatedRequest {
        SimulatedRequest(urlString: url, resourceClass: .segment, time: time)
    }

    func stop() { server.stop() }
}
