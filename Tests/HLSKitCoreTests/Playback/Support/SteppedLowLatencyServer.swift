import HLSKitLoading
import HLSKitSimulation
import TestSupport

/// A ``LowLatencyOrigin`` behind an HTTP/1.1 socket. Its time advances only while a blocking reload and a request for
/// unavailable media wait together. The awaited part then becomes available. Growing bodies arrive in chunks, two per
/// part.
final class SteppedLowLatencyServer: Sendable {
    private struct State {
        var time = Duration.zero
        var isStopped = false
        var waiterCount = 0
        /// The number of connections still to interrupt in the middle of a body.
        var breakCount = 0
    }

    private let origin: LowLatencyOrigin
    private let state: Monitor<State>
    private let server: ScriptedServer

    /// - Parameter breakCount: The number of growing bodies to interrupt after 60 kB.
    init(_ origin: LowLatencyOrigin, breakCount: Int = 0) throws {
        self.origin = origin
        let state = Monitor(State(breakCount: breakCount))
        self.state = state
        server = try ScriptedServer(accepting: { connection, _ in
            while let request = connection.readRequest() {
                guard Self.answer(request, of: origin, to: connection, state) else { return }
            }
        })
    }

    var url: String { server.url + "/1/live.m3u8" }
    var media: [String] {
        server.requests.compactMap { lines in
            guard let path = lines.first?.split(separator: " ").dropFirst().first, path.hasSuffix(".m4s") else {
                return nil
            }
            return "\(path)" + (Self.range(in: lines).map { " \($0.headerText)" } ?? "")
        }
    }

    func stop() {
        state.signal { $0.isStopped = true }
        server.stop()
    }

    // MARK: Responses

    /// Answers a request. Returns `false` if the connection is no longer used.
    private static func answer(
        _ lines: [String], of origin: LowLatencyOrigin, to connection: ScriptedServer.Connection,
        _ state: Monitor<State>
    ) -> Bool {
        guard let path = lines.first?.split(separator: " ").dropFirst().first else { return false }
        let range = range(in: lines)
        let begun = state.withLock { $0.time }
        let base = origin.url.dropLast("/index.m3u8".count)
        let response = origin.response(to: SimulatedRequest(urlString: "\(base)\(path)", byteRange: range, time: begun))
        guard response.status < 400 else {
            connection.respond([], status: "\(response.status) Refused")
            return true
        }
        if path.contains("/live.m3u8") {
            if response.delay > .zero {
                state.wait { $0.isStopped || $0.waiterCount > 0 ? () : nil }
                state.signal { $0.time = max($0.time, begun + response.delay) }
            }
            connection.respond(response.body)
            return true
        }
        let bytes = range?.bytes(ofResourceOf: UInt64(response.body.count)) ?? 0..<UInt64(response.body.count)
        let (first, end) = (Int(bytes.lowerBound), Int(bytes.upperBound))
        if response.growth.isEmpty, response.delay == .zero {
            let fields = range == nil ? [] : ["Content-Range: bytes \(first)-\(end - 1)/\(response.body.count)"]
            connection.respond(response.body[first..<end], status: range == nil ? "200 OK" : "206 Part", fields: fields)
            return true
        }
        let last = range.map { $0.isOpenEnded ? 9_007_199_254_740_991 : end - 1 } ?? 0
        let head =
            range == nil
            ? "HTTP/1.1 200 OK\r\n" : "HTTP/1.1 206 Part\r\nContent-Range: bytes \(first)-\(last)/*\r\n"
        guard connection.send(head + "Transfer-Encoding: chunked\r\n\r\n") else { return false }
        let steps =
            response.growth.isEmpty
            ? [(response.delay, end)] : response.growth.map { ($0.time, min($0.byteCount, end)) }
        var sent = first
        for (time, count) in steps where count > sent {
            state.signal { $0.waiterCount += 1 }
            let isStopped = state.wait { $0.isStopped ? true : $0.time >= begun + time ? false : nil }
            state.withLock { $0.waiterCount -= 1 }
            guard !isStopped else { return false }
            let middle = (sent + count) / 2
            if breaksOff(state, range: range, sent: middle) {
                send(response.body[sent..<middle], to: connection)
                // A reset would discard data that the client has not read yet.
                connection.hangUp()
                return false
            }
            for piece in [sent..<middle, middle..<count] { send(response.body[piece], to: connection) }
            sent = count
        }
        return connection.send("0\r\n\r\n")
    }

    private static func breaksOff(_ state: Monitor<State>, range: Range<UInt64>?, sent: Int) -> Bool {
        state.withLock { state in
            guard sent > 60_000, state.breakCount > 0 else { return false }
            state.breakCount -= 1
            return true
        }
    }

    private static func send(_ bytes: some Collection<UInt8>, to connection: ScriptedServer.Connection) {
        guard !bytes.isEmpty else { return }
        connection.send(Array((hex(bytes.count) + "\r\n").utf8) + Array(bytes) + Array("\r\n".utf8))
    }

    private static func hex(_ count: Int) -> String { String(count, radix: 16) }

    private static func range(in lines: [String]) -> Range<UInt64>? {
        guard let line = lines.first(where: { $0.hasPrefix("Range: bytes=") }) else { return nil }
        let ends = line.dropFirst("Range: bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = UInt64(ends[0]) else { return nil }
        return UInt64(ends[1]).map { first..<$0 + 1 } ?? .bytes(from: first)
    }
}
