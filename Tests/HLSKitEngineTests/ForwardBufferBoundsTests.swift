import Testing

@testable import HLSKitEngine

/// A buffer with pieces of 6 s and 1000 bytes, the next segment being such a one.
@Suite("Forward buffer, shared limits")
struct ForwardBufferBoundsTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var playhead = 0.0
        var bounds: ForwardBuffer.Bounds
        var loads: Bool
        var isFull = false
    }

    static let cases = [
        Case(testDescription: "room for one more", bounds: .init(byteCount: 3000, nextByteCount: 1000), loads: true),
        Case(
            testDescription: "no room for one more", bounds: .init(byteCount: 2999, nextByteCount: 1000), loads: false,
            isFull: true),
        Case(
            testDescription: "what is on its way takes the room, and is waited for",
            bounds: .init(byteCount: 3000, pendingByteCount: 1000, nextByteCount: 1000), loads: false),
        Case(
            testDescription: "media on its way takes the time, and is waited for",
            bounds: .init(duration: .seconds(18), pendingDurations: [.video: .seconds(1)]), loads: false),
        Case(testDescription: "time for one more", bounds: .init(duration: .seconds(18)), loads: true),
        Case(
            testDescription: "no time for one more", bounds: .init(duration: .seconds(17)), loads: false, isFull: true),
        Case(
            testDescription: "with less than a segment ahead there is always room", playhead: 7,
            bounds: .init(byteCount: 0, duration: .zero, nextByteCount: 1000), loads: true),
        Case(
            testDescription: "with a segment ahead there is not", playhead: 6,
            bounds: .init(byteCount: 0, duration: .zero, nextByteCount: 1000), loads: false, isFull: true),
        Case(testDescription: "enough to let others go first", bounds: .init(reserve: .seconds(12)), loads: false),
        Case(testDescription: "not enough for it", bounds: .init(reserve: .seconds(13)), loads: true),
    ]

    @Test("D10: the shared limits determine loading and the full state", arguments: cases)
    func loading(_ test: Case) {
        var buffer = Self.buffer(pieceCount: 2)
        let verdict = buffer.evaluate(Self.situation(test.playhead, test.bounds))
        #expect(verdict.tracksToLoad.contains(.video) == test.loads)
        #expect(verdict.isFull == test.isFull)
    }

    @Test("D10: the back buffer is evicted for the next segment", arguments: [(3000, 0), (4000, 1000), (9000, 2000)])
    func eviction(_ room: Int, _ behind: Int) {
        // 12 s behind, 12 s ahead.
        var buffer = Self.buffer(pieceCount: 4)
        buffer.evict(Self.situation(12, .init(byteCount: room, nextByteCount: 1000)))
        #expect(buffer.byteCount == 2000 + behind)
    }

    private static func buffer(pieceCount: Int) -> ForwardBuffer {
        var buffer = ForwardBuffer()
        buffer.setRequiredTracks(.video)
        for index in 0..<pieceCount {
            let start = Duration.seconds(6 * index)
            buffer.insert(.init(range: start..<start + .seconds(6), byteCount: 1000), in: .video)
        }
        return buffer
    }

    private static func situation(_ playhead: Double, _ bounds: ForwardBuffer.Bounds) -> ForwardBuffer.Situation {
        var situation = ForwardBuffer.Situation(playhead: .seconds(playhead))
        situation.nextSegmentDuration = .seconds(6)
        situation.nextSegmentByteCount = 1000
        situation.bounds = bounds
        return situation
    }
}
