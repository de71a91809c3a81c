import HLSKitEngine
import HLSKitLoading

/// The bodies of preload hints.
///
/// They are kept until the hinted resource is listed, and then delivered to the requests for it as they arrive. An
/// open-ended body is divided into the ranges of those requests.
struct PreloadedBodies {
    struct Event {
        var request: RequestID
        var event: TransportEvent
    }

    private struct Taker {
        let request: RequestID
        /// The first byte, and the byte after the last one. `nil` means everything.
        let first: UInt64
        let end: UInt64?
        var next: UInt64
        var hasResponse = false

        init(_ request: RequestID, _ range: Range<UInt64>?) {
            self.request = request
            first = range?.lowerBound ?? 0
            end = range?.upperBound
            next = first
        }
    }

    private struct Body {
        var request: RequestID
        var response: TransportResponse?
        /// The offset of ``bytes`` in the resource.
        var start: UInt64
        var bytes: [UInt8] = []
        var isComplete = false
        var takers: [Taker] = []

        var end: UInt64 { start &+ UInt64(bytes.count) }

        init(_ request: RequestID, from start: UInt64) {
            self.request = request
            self.start = start
        }

        mutating func takeEvents() -> [Event] {
            guard let response else { return [] }
            var events: [Event] = []
            for index in takers.indices {
                let taker = takers[index]
                if !taker.hasResponse {
                    takers[index].hasResponse = true
                    events.append(Event(request: taker.request, event: .response(Self.response(response, to: taker))))
                }
                let upTo = min(end, taker.end ?? .max)
                if taker.next >= start, upTo > taker.next {
                    let piece = bytes[Int(taker.next - start)..<Int(upTo - start)]
                    takers[index].next = upTo
                    events.append(Event(request: taker.request, event: .data(Array(piece))))
                }
                if taker.end.map({ upTo >= $0 }) ?? isComplete {
                    var metrics = TransferMetrics()
                    metrics.decodedByteCount = Int(clamping: upTo &- taker.first)
                    events.append(Event(request: taker.request, event: .finished(metrics)))
                }
            }
            dropRead()
            return events
        }

        private mutating func dropRead() {
            guard let read = takers.map(\.next).min() else { return }
            takers.removeAll { taker in taker.end.map { taker.next >= $0 } ?? isComplete }
            let count = Int(clamping: min(read, end) - min(start, read))
            guard count > 0 else { return }
            bytes.removeFirst(min(count, bytes.count))
            start += UInt64(count)
        }

        private static func response(_ response: TransportResponse, to taker: Taker) -> TransportResponse {
            var response = response
            response.wasPreloaded = true
            if let end = taker.end { response.contentLength = Int(clamping: end - taker.first) }
            return response
        }
    }

    private var bodies: [RequestID: Body] = [:]

    func has(_ body: RequestID) -> Bool { bodies[body] != nil }

    // MARK: Bodies

    mutating func begin(_ request: RequestID, continuing body: RequestID?, from start: UInt64) {
        guard let body, var known = bodies[body] else {
            bodies[request] = Body(request, from: start)
            return
        }
        known.request = request
        if known.end != start { (known.start, known.bytes) = (start, []) }
        bodies[body] = known
    }

    mutating func respond(_ response: TransportResponse, to request: RequestID) -> [Event] {
        change(request) { if $0.response == nil { $0.response = response } }
    }

    mutating func append(_ bytes: [UInt8], of request: RequestID) -> [Event] {
        change(request) { $0.bytes += bytes }
    }

    mutating func finish(_ request: RequestID) -> [Event] {
        change(request) { $0.isComplete = true }
    }

    mutating func forget(_ body: RequestID) { bodies[body] = nil }

    private mutating func change(_ request: RequestID, _ body: (inout Body) -> Void) -> [Event] {
        guard let id = bodies.first(where: { $0.value.request == request })?.key, var changed = bodies[id] else {
            return []
        }
        body(&changed)
        let events = changed.takeEvents()
        bodies[id] = changed
        return events
    }

    // MARK: Requests

    mutating func serve(_ request: RequestID, from body: RequestID, _ range: Range<UInt64>?) -> [Event] {
        guard var changed = bodies[body] else { return [] }
        changed.takers.append(Taker(request, range))
        let events = changed.takeEvents()
        bodies[body] = changed
        return events
    }

    mutating func stopServing(_ request: RequestID) {
        for id in bodies.keys { bodies[id]?.takers.removeAll { $0.request == request } }
    }
}

final class PreloadedTask: TransportTask {
    func cancel() {}
    func pause() {}
    func resume() {}
}
