import HLSKitLoading
import HLSKitTime
import Testing

@testable import HLSKitEngine

@Suite("Forward buffer")
struct ForwardBufferTests {
    private typealias Situation = ForwardBuffer.Situation

    private func buffer(
        video: [ClosedRange<Double>] = [], audio: [ClosedRange<Double>]? = nil, bytesPerPiece: Int = 1000,
        configuration: BufferingConfiguration = .init()
    ) -> ForwardBuffer {
        var buffer = ForwardBuffer(configuration: configuration)
        buffer.setRequiredTracks(audio == nil ? .video : [.video, .audio])
        for range in video { buffer.insert(piece(range, byteCount: bytesPerPiece), in: .video) }
        for range in audio ?? [] { buffer.insert(piece(range, byteCount: bytesPerPiece), in: .audio) }
        return buffer
    }

    private func piece(_ range: ClosedRange<Double>, byteCount: Int = 1000, isGap: Bool = false) -> ForwardBuffer.Piece
    {
        .init(range: time(range.lowerBound)..<time(range.upperBound), byteCount: byteCount, isGap: isGap)
    }

    private func evaluate(_ buffer: inout ForwardBuffer, _ situation: Situation) -> ForwardBuffer.Verdict {
        buffer.evaluate(situation)
    }

    private func time(_ seconds: Double) -> Duration { .milliseconds(Int64((seconds * 1000).rounded())) }

    @Test("F06: the forward duration is the shortest of the required tracks")
    func leastTrack() {
        var buffer = buffer(video: [0...6, 6...12], audio: [0...4])
        #expect(evaluate(&buffer, Situation(playhead: .seconds(1))).forwardDuration == .seconds(3))
        buffer.setRequiredTracks([.video, .legible])
        #expect(evaluate(&buffer, Situation(playhead: .seconds(1))).forwardDuration == .seconds(11))
    }

    struct Gap: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var video: [ClosedRange<Double>]
        var playhead: Double
        var ahead: Double
    }

    @Test(
        "F19: missing media is skipped up to the jump limit",
        arguments: [
            Gap(testDescription: "none", video: [0...6, 6...12], playhead: 2, ahead: 10),
            Gap(testDescription: "exactly the jump", video: [0...6, 6.5...12], playhead: 2, ahead: 10),
            Gap(testDescription: "longer", video: [0...6, 6.501...12], playhead: 2, ahead: 4),
            Gap(testDescription: "at the start", video: [0.3...6], playhead: 0, ahead: 6),
            Gap(testDescription: "playhead in a long hole", video: [2...6], playhead: 1, ahead: 0),
            Gap(testDescription: "playhead behind everything", video: [0...6], playhead: 8, ahead: 0),
            Gap(testDescription: "overlap", video: [0...6, 5...9, 5.5...7, 9...10], playhead: 4, ahead: 6),
            Gap(testDescription: "out of order", video: [6...12, 0...6], playhead: 4, ahead: 8),
        ])
    func gaps(_ gap: Gap) {
        let buffer = buffer(video: gap.video)
        #expect(buffer.forwardDuration(of: .video, .init(playhead: time(gap.playhead))) == time(gap.ahead))
    }

    @Test("a gap counts as playable but not as loaded")
    func gap() {
        var buffer = buffer(video: [0...6, 12...18])
        buffer.insert(piece(6...12, byteCount: 0, isGap: true), in: .video)
        #expect(buffer.forwardDuration(of: .video, .init(playhead: .seconds(2))) == .seconds(16))
        #expect(buffer.loadedTimeRanges() == [.zero..<Duration.seconds(6), .seconds(12)..<Duration.seconds(18)])
    }

    @Test("F14: loaded ranges intersect all required tracks")
    func loadedRanges() {
        let buffer = buffer(video: [0...6, 6.2...10, 20...30], audio: [1...8, 9...25])
        let expected: [Range<Duration>] = [
            .seconds(1)..<Duration.seconds(8), .seconds(9)..<Duration.seconds(10), .seconds(20)..<Duration.seconds(25),
        ]
        #expect(buffer.loadedTimeRanges() == expected)
    }

    @Test("in reverse, media before the playhead counts as ahead")
    func reverse() {
        var buffer = buffer(video: [0...6, 6...12])
        let situation = Situation(playhead: .seconds(8), isReverse: true, effectiveEnd: .zero)
        let verdict = evaluate(&buffer, situation)
        #expect(verdict.forwardDuration == .seconds(8))
        #expect(verdict.holdsAllRemaining)
        #expect(evaluate(&buffer, Situation(playhead: .zero, isReverse: true, effectiveEnd: .zero)).isEmpty == false)
    }

    @Test("F06: the buffer is empty below the epsilon, except at the effective end")
    func empty() {
        var buffer = buffer(video: [0...6, 6...12])
        #expect(!evaluate(&buffer, Situation(playhead: time(11.95), effectiveEnd: .seconds(60))).isEmpty)
        #expect(evaluate(&buffer, Situation(playhead: time(11.951), effectiveEnd: .seconds(60))).isEmpty)
        #expect(evaluate(&buffer, Situation(playhead: .seconds(30), effectiveEnd: .seconds(60))).isEmpty)
        #expect(!evaluate(&buffer, Situation(playhead: .seconds(12), effectiveEnd: .seconds(12))).isEmpty)
        #expect(!evaluate(&buffer, Situation(playhead: .seconds(13), effectiveEnd: .seconds(12))).isEmpty)
    }

    @Test("an ended track needs no more media up to the end")
    func endedTrack() {
        var buffer = buffer(video: [0...12], audio: [0...9])
        let situation = Situation(playhead: .seconds(10), effectiveEnd: .seconds(12))
        #expect(evaluate(&buffer, situation).isEmpty)
        buffer.markEnd(of: .audio)
        let verdict = evaluate(&buffer, situation)
        #expect(!verdict.isEmpty && verdict.isFull && verdict.holdsAllRemaining)
        #expect(verdict.forwardDuration == .seconds(2))
        #expect(verdict.tracksToLoad == .legible)
    }

    @Test("an ended track does not hide missing media before its end")
    func endedTrackWithHole() {
        var buffer = buffer(video: [0...6, 20...30])
        buffer.markEnd(of: .video)
        let situation = Situation(playhead: .seconds(2), effectiveEnd: .seconds(30))
        #expect(evaluate(&buffer, situation).forwardDuration == .seconds(4))
    }

    @Test("F05: full at the target; loading pauses until a fifth or a target duration has played")
    func hysteresis() {
        // The target is 30 s. Loading resumes below 24 s, 20 s or 15 s for target durations of 2, 10 and 20 s.
        for (targetDuration, resume) in [(2, 24.0), (10, 20.0), (20, 15.0)] {
            var buffer = buffer(video: [0...30])
            var situation = Situation(playhead: .zero, targetDuration: .seconds(targetDuration))
            #expect(evaluate(&buffer, situation).isFull)
            #expect(!evaluate(&buffer, situation).tracksToLoad.contains(.video))
            situation.playhead = time(30 - resume)
            #expect(!evaluate(&buffer, situation).isFull)
            #expect(!evaluate(&buffer, situation).tracksToLoad.contains(.video))
            situation.playhead += .milliseconds(1)
            #expect(evaluate(&buffer, situation).tracksToLoad.contains(.video))
        }
    }

    @Test("a forward duration below a target duration is raised to it")
    func shortWish() {
        var buffer = buffer(video: [0...5])
        var situation = Situation(
            playhead: .zero, preferredForwardBufferDuration: .milliseconds(500), targetDuration: .seconds(6))
        #expect(!evaluate(&buffer, situation).isFull)
        situation.targetDuration = .seconds(5)
        #expect(evaluate(&buffer, situation).isFull)
    }

    @Test("each track pauses loading independently")
    func trackForItself() {
        var buffer = buffer(video: [0...30], audio: [0...10])
        let verdict = evaluate(&buffer, Situation(playhead: .zero))
        #expect(!verdict.isFull)
        #expect(verdict.tracksToLoad == [.audio, .legible])
    }

    @Test("F05: full if the next segment would exceed the byte limit, unless a track needs it to play")
    func bytes() {
        let small = BufferingConfiguration(maxBufferBytes: 5000)
        var situation = Situation(playhead: .zero, nextSegmentDuration: .seconds(6), nextSegmentByteCount: 1001)
        var buffer = buffer(video: [0...6], audio: [0...6], bytesPerPiece: 2000, configuration: small)
        var verdict = evaluate(&buffer, situation)
        #expect(verdict.isFull && verdict.tracksToLoad.isEmpty)

        situation.playhead = .seconds(1)  // 5 s ahead, less than a segment
        verdict = evaluate(&buffer, situation)
        #expect(!verdict.isFull && verdict.tracksToLoad == [.video, .audio])

        situation.playhead = .zero
        situation.nextSegmentByteCount = 1000
        #expect(!evaluate(&buffer, situation).isFull)
        situation.nextSegmentByteCount = .max
        #expect(evaluate(&buffer, situation).isFull)
    }

    @Test("a hard limit admits a segment exactly when it fits")
    func hardLimit() {
        var buffer = buffer(video: [0...26], configuration: .init(forwardDurationLimit: .seconds(30)))
        var situation = Situation(playhead: .zero, nextSegmentDuration: .seconds(4))
        #expect(evaluate(&buffer, situation).tracksToLoad.contains(.video))
        situation.nextSegmentDuration = .milliseconds(4001)
        #expect(!evaluate(&buffer, situation).tracksToLoad.contains(.video))
        #expect(evaluate(&buffer, situation).isFull)
        situation.playhead = .milliseconds(1)
        #expect(evaluate(&buffer, situation).tracksToLoad.contains(.video))
    }

    @Test("a live buffer with all listed media is full if that is enough to start")
    func live() {
        var buffer = buffer(video: [0...6])
        var situation = Situation(playhead: .seconds(1), lastAvailable: .seconds(6), startThreshold: .seconds(2))
        #expect(evaluate(&buffer, situation).isFull)
        situation.lastAvailable = .seconds(12)
        #expect(!evaluate(&buffer, situation).isFull)
        situation.lastAvailable = .seconds(6)
        situation.playhead = .milliseconds(5501)  // less than a quarter of the threshold
        #expect(!evaluate(&buffer, situation).isFull)
        #expect(!evaluate(&buffer, situation).holdsAllRemaining)
    }

    @Test("F15: media far before the playhead is evicted by time and by bytes, oldest first")
    func eviction() {
        var buffer = buffer(video: [0...10, 10...20, 20...30, 30...40], audio: [0...20, 20...40])
        let byTime = buffer.evict(.init(playhead: .seconds(41)))
        #expect(byTime.map(\.track) == [.video])
        #expect(byTime.map(\.range) == [.zero..<Duration.seconds(10)])
        #expect(buffer.byteCount == 5000)

        buffer.configuration.maxBackBufferBytes = 2500
        let byBytes = buffer.evict(.init(playhead: .seconds(41)))
        #expect(byBytes.map(\.range.upperBound) == [.seconds(20), .seconds(20), .seconds(30)])
        #expect(buffer.byteCount == 2000)
    }

    @Test("in reverse, media after the playhead is evicted")
    func reverseEviction() {
        var buffer = buffer(video: [0...10, 10...20, 60...70])
        let evicted = buffer.evict(.init(playhead: .seconds(15), isReverse: true))
        #expect(evicted.map(\.range) == [.seconds(60)..<Duration.seconds(70)])
    }

    @Test("removal from a time cuts the media there")
    func removal() {
        var buffer = buffer(video: [0...10, 10...20, 20...30])
        buffer.markEnd(of: .video)
        buffer.removeMedia(from: .seconds(15))
        #expect(buffer.byteCount == 1500)
        let situation = Situation(playhead: .zero, effectiveEnd: .seconds(30))
        #expect(buffer.forwardDuration(of: .video, situation) == .seconds(15))
        buffer.removeAll()
        #expect(buffer.byteCount == 0)
    }

    @Test("small arrivals merge into few ranges without changing the totals")
    func smallArrivals() {
        var buffer = buffer()
        for index in 0..<1000 {
            let start = Double(index) * 0.04
            buffer.insert(piece(start...(start + 0.04), byteCount: 10), in: .video)
        }
        #expect(buffer.forwardDuration(of: .video, .init(playhead: .zero)) == .seconds(40))
        let evicted = buffer.evict(.init(playhead: .milliseconds(40_001)))
        #expect(evicted.count == 5)
        #expect(buffer.byteCount == 7500)
    }

    @Test("the order of inserted media does not change the totals")
    func anyOrder() {
        var random = SplitMix64(seed: 5)
        for _ in 0..<200 {
            let ranges = (0..<8).map { _ in
                let start = Double(random.next() % 400) / 10
                return start...(start + Double(random.next() % 80 + 1) / 10)
            }
            let buffers = [ranges, ranges.reversed(), ranges.shuffled(using: &random)].map { buffer(video: $0) }
            let reach = (0..<40).map { second in
                buffers.map { $0.forwardDuration(of: .video, .init(playhead: .seconds(second))) }
            }
            #expect(reach.allSatisfy { Set($0).count == 1 }, "\(ranges)")
            #expect(
                buffers.allSatisfy { $0.loadedTimeRanges() == buffers[0].loadedTimeRanges() && $0.byteCount == 8000 })
        }
    }

    @Test("without a required track the buffer is never ready")
    func noRequiredTrack() {
        var buffer = ForwardBuffer()
        #expect(evaluate(&buffer, Situation(playhead: .zero)).isEmpty)
    }
}

@Suite("Live reserve")
struct LiveReserveTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var piece: Duration
        var offset: Duration
        var window: Duration = .seconds(60)
        var available: Duration
        var load: Duration?
        var need: Duration
    }

    @Test(
        "F04: after a live stall, playback waits until the next segment can arrive in time",
        arguments: [
            Case(
                testDescription: "one segment is listed", piece: .seconds(6), offset: .seconds(18),
                available: .seconds(6), load: .seconds(1), need: .seconds(7)),
            Case(
                testDescription: "two are listed: one is enough, as the next can be loaded", piece: .seconds(6),
                offset: .seconds(18), available: .seconds(12), load: .seconds(1), need: .seconds(4)),
            Case(
                testDescription: "far from the edge as elsewhere", piece: .seconds(6), offset: .seconds(18),
                available: .seconds(40), need: .seconds(4)),
            Case(
                testDescription: "nothing was measured", piece: .seconds(10), offset: .seconds(30),
                available: .seconds(10), need: .milliseconds(12_500)),
            Case(
                testDescription: "a slow network: no more than two segments", piece: .seconds(10), offset: .seconds(30),
                available: .seconds(10), load: .seconds(60), need: .seconds(20)),
            Case(
                testDescription: "short segments: the threshold", piece: .seconds(2), offset: .seconds(6),
                available: .seconds(2), load: .milliseconds(100), need: .seconds(4)),
            Case(
                testDescription: "three segments are listed: two of them", piece: .seconds(6), offset: .seconds(18),
                window: .seconds(18), available: .seconds(6), load: .seconds(5), need: .seconds(11)),
            Case(
                testDescription: "two segments are listed: one, as more would be lost", piece: .seconds(6),
                offset: .seconds(12), window: .seconds(12), available: .seconds(6), load: .seconds(5), need: .seconds(6)
            ),
            Case(
                testDescription: "one segment is listed in all", piece: .seconds(6), offset: .seconds(6),
                window: .seconds(6), available: .seconds(6), load: .seconds(5), need: .seconds(6)),
            Case(
                testDescription: "parts: the hold-back less a part", piece: .milliseconds(500),
                offset: .milliseconds(1500), available: .milliseconds(500), load: .milliseconds(50), need: .seconds(1)),
            Case(
                testDescription: "parts of a third of a second, a second behind", piece: .milliseconds(334),
                offset: .milliseconds(1002), available: .milliseconds(334), load: .milliseconds(50),
                need: .milliseconds(668)),
            Case(
                testDescription: "parts on a slow network, far from the edge", piece: .milliseconds(500),
                offset: .milliseconds(1500), available: .seconds(8), load: .milliseconds(500), need: .seconds(1)),
            Case(
                testDescription: "nearer to the edge than a segment", piece: .seconds(6), offset: .seconds(1),
                available: .seconds(6), load: .seconds(1), need: .seconds(7)),
        ])
    func need(_ testCase: Case) {
        let reserve = ForwardBuffer.LiveBufferTarget(
            piece: testCase.piece, offset: testCase.offset, window: testCase.window)
        #expect(
            reserve.need(threshold: .seconds(4), available: testCase.available, loadTime: testCase.load)
                == testCase.need)
    }
}

/// The buffer holds pieces of 6 s and 1000 bytes each, and the next segment is equal to them.
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
    func eviction(_ room: Int, _ after: Int) {
        var buffer = Self.buffer(pieceCount: 4)
        buffer.evict(Self.situation(12, .init(byteCount: room, nextByteCount: 1000)))
        #expect(buffer.byteCount == 2000 + after)
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
