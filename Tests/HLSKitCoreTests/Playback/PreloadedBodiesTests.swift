import HLSKitEngine
import HLSKitLoading
import Testing

@testable import HLSKitPlayback

@Suite("Bodies of preload hints")
struct PreloadedBodiesTests {
    private static let hint = RequestID(rawValue: 1)
    private static let again = RequestID(rawValue: 9)
    private static let response = TransportResponse(status: 206, urlString: "https://host/s", contentLength: 1000)

    /// The events of requests as text: `5:R` is a response to request 5, followed by its bytes and `.` for the end.
    private static func text(_ events: [PreloadedBodies.Event]) -> [String] {
        events.map { event in
            let what =
                switch event.event {
                case .response(let response): "R\(response.contentLength.map { "\($0)" } ?? "")"
                case .data(let bytes): bytes.map { "\($0)" }.joined()
                case .finished(let metrics): ".\(metrics.decodedByteCount)"
                case .failed: "!"
                }
            return "\(event.request.rawValue):\(what)"
        }
    }

    private static func bodies(from start: UInt64 = 0) -> PreloadedBodies {
        var bodies = PreloadedBodies()
        bodies.begin(hint, continuing: nil, from: start)
        return bodies
    }

    @Test("bytes received before a request are kept, and later ones are forwarded as they arrive")
    func whole() {
        var bodies = Self.bodies()
        #expect(bodies.respond(Self.response, to: Self.hint).isEmpty == true)
        #expect(bodies.append([1, 2], of: Self.hint).isEmpty == true)
        #expect(Self.text(bodies.serve(RequestID(rawValue: 5), from: Self.hint, nil)) == ["5:R1000", "5:12"])
        #expect(Self.text(bodies.append([3], of: Self.hint)) == ["5:3"])
        #expect(Self.text(bodies.finish(Self.hint)) == ["5:.3"])
        bodies.forget(Self.hint)
        #expect(bodies.has(Self.hint) == false)
        #expect(bodies.serve(RequestID(rawValue: 6), from: Self.hint, nil).isEmpty == true)
    }

    @Test("an open-ended body is cut into the requested ranges")
    func cuts() {
        var bodies = Self.bodies(from: 10)
        #expect(Self.text(bodies.serve(RequestID(rawValue: 5), from: Self.hint, 10..<13)) == [])
        #expect(Self.text(bodies.respond(Self.response, to: Self.hint)) == ["5:R3"])
        #expect(Self.text(bodies.append([0, 1], of: Self.hint)) == ["5:01"])
        #expect(Self.text(bodies.append([2, 3, 4], of: Self.hint)) == ["5:2", "5:.3"])
        #expect(
            Self.text(bodies.serve(RequestID(rawValue: 6), from: Self.hint, 13..<15)) == ["6:R2", "6:34", "6:.2"])
        #expect(Self.text(bodies.append([5, 6, 7, 8], of: Self.hint)) == [])
        #expect(Self.text(bodies.serve(RequestID(rawValue: 7), from: Self.hint, 17..<18)) == ["7:R1", "7:7", "7:.1"])
        #expect(Self.text(bodies.finish(Self.hint)) == [])
        #expect(Self.text(bodies.serve(RequestID(rawValue: 8), from: Self.hint, 18..<19)) == ["8:R1", "8:8", "8:.1"])
    }

    @Test("the rest of an interrupted body is appended to the received part")
    func continued() {
        var bodies = Self.bodies(from: 10)
        _ = bodies.respond(Self.response, to: Self.hint)
        _ = bodies.serve(RequestID(rawValue: 5), from: Self.hint, 10..<14)
        #expect(Self.text(bodies.append([0, 1], of: Self.hint)) == ["5:01"])
        bodies.begin(Self.again, continuing: Self.hint, from: 12)
        #expect(bodies.append([7], of: Self.hint).isEmpty == true, "it is over")
        #expect(Self.text(bodies.respond(Self.response, to: Self.again)) == [])
        #expect(Self.text(bodies.append([2, 3], of: Self.again)) == ["5:23", "5:.4"])
    }

    @Test("a cancelled request gets no more bytes")
    func cancelled() {
        var bodies = Self.bodies()
        _ = bodies.respond(Self.response, to: Self.hint)
        _ = bodies.serve(RequestID(rawValue: 5), from: Self.hint, 0..<4)
        bodies.stopServing(RequestID(rawValue: 5))
        #expect(bodies.append([1, 2], of: Self.hint).isEmpty == true)
        #expect(Self.text(bodies.serve(RequestID(rawValue: 6), from: Self.hint, 0..<2)) == ["6:R2", "6:12", "6:.2"])
    }
}
