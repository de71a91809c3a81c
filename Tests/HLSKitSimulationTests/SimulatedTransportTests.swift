import HLSKitCore
import HLSKitSimulation
import Synchronization
import Testing

@Suite("Simulated transport", .timeLimit(.minutes(10)))
struct SimulatedTransportTests {
    private final class Notes: Sendable {
        private let state = Mutex<(lines: [String], bytes: [UInt8])>(([], []))
        var lines: [String] { state.withLock { $0.lines } }
        var bytes: [UInt8] { state.withLock { $0.bytes } }

        func note(_ event: TransportEvent, at time: Duration) {
            let milliseconds = Int((time / .milliseconds(1)).rounded())
            state.withLock { state in
                switch event {
                case .response(let response): state.lines.append("\(milliseconds) response \(response.status)")
                case .data(let bytes): state.bytes += bytes
                case .finished: state.lines.append("\(milliseconds) finished")
                case .failed(let error, _):
                    let status = error.statusCode.map { " \($0)" } ?? ""
                    state.lines.append("\(milliseconds) \(error.code.rawValue)\(status)")
                }
            }
        }
    }

    struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var response: SimulatedResponse
        var range: Range<UInt64>?
        var lines: [String]
        var byteCount = 0
    }

    private static let body = [UInt8](repeating: 7, count: 10_000)

    /// Returns a body that has two kilobytes at once, six after 0.5 s, and all after 3 s.
    private static func growing(
        _ ending: SimulatedResponse.Ending = .complete, after delay: Duration = .zero
    ) -> SimulatedResponse {
        var response = SimulatedResponse(body: body, delay: delay, ending: ending)
        response.growth = [
            .init(time: .zero, byteCount: 2000), .init(time: .milliseconds(500), byteCount: 6000),
            .init(time: .seconds(3), byteCount: 10_000),
        ]
        return response
    }

    /// A link of 80 kbit/s with 100 ms of latency, on which a kilobyte takes 100 ms.
    static let cases = [
        Case(
            testDescription: "whole", response: SimulatedResponse(body: body),
            lines: ["100 response 200", "1100 finished"], byteCount: 10_000),
        Case(
            testDescription: "a range", response: SimulatedResponse(body: body), range: 1000..<3000,
            lines: ["100 response 206", "300 finished"], byteCount: 2000),
        Case(
            testDescription: "a range that is not there", response: SimulatedResponse(body: body), range: 9000..<11_000,
            lines: ["100 badRange"]),
        Case(
            testDescription: "late", response: SimulatedResponse(body: body, delay: .seconds(2)),
            lines: ["2100 response 200", "3100 finished"], byteCount: 10_000),
        Case(
            testDescription: "cut", response: SimulatedResponse(body: body, ending: .cut(after: 4000)),
            lines: ["100 response 200", "500 connectionLost"], byteCount: 4000),
        Case(
            testDescription: "stalled", response: SimulatedResponse(body: body, ending: .stalled(after: 4000)),
            lines: ["100 response 200", "6500 timedOut"], byteCount: 4000),
        Case(
            testDescription: "made while it is sent", response: growing(),
            lines: ["100 response 200", "3500 finished"],
            byteCount: 10_000),
        Case(
            testDescription: "a range of what is being made", response: growing(), range: 2000..<6000,
            lines: ["600 response 206", "1000 finished"], byteCount: 4000),
        Case(
            testDescription: "cut while it is made", response: growing(.cut(after: 5000)),
            lines: ["100 response 200", "900 connectionLost"], byteCount: 5000),
        Case(
            testDescription: "held, then made", response: growing(after: .seconds(1)),
            lines: ["1100 response 200", "4500 finished"], byteCount: 10_000),
        Case(testDescription: "404", response: .notFound, lines: ["100 httpStatus 404"]),
        Case(testDescription: "503", response: .status(503, retryAfter: 2), lines: ["100 httpStatus 503"]),
        Case(testDescription: "empty", response: SimulatedResponse(), lines: ["100 emptyBody"]),
        Case(testDescription: "no connection", response: .failure(.cannotConnect), lines: ["100 cannotConnect"]),
        Case(
            testDescription: "no answer in time", response: SimulatedResponse(body: body, delay: .seconds(20)),
            lines: ["8000 timedOut"]),
    ]

    @Test("responses arrive when the link allows, and fail as scripted", arguments: cases)
    func answers(_ test: Case) throws {
        let clock = VirtualClock()
        let trace = NetworkTrace(constant: LinkConditions(bitsPerSecond: 80_000, latency: .milliseconds(100)))
        let transport = SimulatedTransport(over: trace, clock: clock) { _ in test.response }
        let notes = Notes()
        let request = TransportRequest(urlString: "https://a.test/x", resourceClass: .segment, byteRange: test.range)
        _ = transport.start(request) { notes.note($0, at: clock.now.offset) }
        clock.advance(by: .seconds(60))
        #expect(notes.lines == test.lines)
        #expect(notes.bytes.count == test.byteCount)
    }

    @Test("nothing arrives after a cancel", arguments: [Duration.zero, .seconds(1)])
    func cancel(delay: Duration) {
        let clock = VirtualClock()
        let trace = NetworkTrace(constant: LinkConditions(bitsPerSecond: 80_000))
        let transport = SimulatedTransport(over: trace, clock: clock) { _ in
            SimulatedResponse(body: Self.body, delay: delay)
        }
        let notes = Notes()
        let task = transport.start(TransportRequest(urlString: "https://a.test/x", resourceClass: .segment)) {
            notes.note($0, at: clock.now.offset)
        }
        clock.advance(by: .milliseconds(500))
        task.cancel()
        let before = (notes.lines, notes.bytes)
        clock.advance(by: .seconds(60))
        #expect(notes.lines == before.0)
        #expect(notes.bytes == before.1)
    }

    // MARK: Faults during playback

    struct Fault: CustomTestStringConvertible, Sendable {
        var testDescription: String
        /// Replaces the responses for the third segment of the lowest variant and of all others.
        var response: @Sendable (SimulatedRequest, SimulatedResponse) -> SimulatedResponse
        var expected: String
    }

    static let faults = [
        Fault(
            testDescription: "an error that passes", response: { $0.attempt == 0 ? .status(503) : $1 },
            expected: "recoverable"),
        Fault(
            testDescription: "a cut that passes",
            response: { request, answer in
                var answer = answer
                if request.attempt == 0 { answer.ending = .cut(after: 10_000) }
                return answer
            }, expected: "recoverable"),
        Fault(
            testDescription: "a stall that passes",
            response: { request, answer in
                var answer = answer
                if request.attempt == 0 { answer.ending = .stalled(after: 10_000) }
                return answer
            }, expected: "recoverable"),
        Fault(
            testDescription: "a segment that is gone", response: { _, _ in .notFound }, expected: "skipped segments 2-2"
        ),
    ]

    @Test("a player recovers from faults, always in the same way", arguments: faults)
    func playerFaults(_ fault: Fault) throws {
        func play() throws -> VirtualPlay {
            let clock = VirtualClock()
            let stream = SyntheticStream(segmentCount: 6)
            let trace = NetworkTrace(constant: LinkConditions(bitsPerSecond: 8_000_000, latency: .milliseconds(30)))
            let transport = SimulatedTransport(over: trace, clock: clock) { request in
                let answer = stream.response(to: request)
                return request.urlString.hasSuffix("/2.m4s") ? fault.response(request, answer) : answer
            }
            return try VirtualPlay(stream.urlString, clock: clock, transport: transport)
        }
        let first = try play()
        #expect(first.log.decisions.last == "played to end", "\(first.log.text)")
        #expect(first.log.decisions.contains { $0.hasPrefix(fault.expected) }, "\(first.log.text)")
        #expect(try play().log == first.log)
    }

    @Test("unknown URLs of a synthetic stream give 404, and segments have their bit rate's size")
    func syntheticStream() {
        let stream = SyntheticStream(bitRates: [800_000], segmentCount: 3)
        let base = "https://synthetic.invalid/"
        for path in ["other.m3u8", "1/index.m3u8", "0/3.m4s", "0/-1.m4s", "0/x", "a/b/c", ""] {
            #expect(stream.response(to: SimulatedRequest(urlString: base + path)).status == 404, "\(path)")
        }
        #expect(stream.response(to: SimulatedRequest(urlString: base + "0/2.m4s")).body.count == 600_000)
    }
}
