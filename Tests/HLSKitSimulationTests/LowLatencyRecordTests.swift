import HLSKitCore
import HLSKitMedia
import HLSKitSimulation
import HLSKitTime
import Synchronization
import Testing

/// Recordings of a ``LowLatencyOrigin`` by their own timestamps. Each part has twelve frames.
@Suite("Recording with parts", .timeLimit(.minutes(10)))
struct LowLatencyRecordTests {
    private final class Timestamps: SampleWriter {
        let mediaTypes: Set<MediaKind> = [.video]
        private let state = Mutex<[Int64]>([])
        var all: [Int64] { state.withLock { $0 } }
        func begin(_ tracks: [MediaTrack]) {}
        func write(_ sample: MediaSample, ofTrackAt index: Int, at itemTime: MediaTime) {
            state.withLock { $0.append(sample.dts) }
        }
        func flush() {}
        func finish() {}
    }

    /// The length of a part in ticks of 90 kHz.
    private static let partLength: Int64 = 45_000
    private static let framesPerPart = 12

    struct Stream: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var change: @Sendable (inout LowLatencyOrigin) -> Void = { _ in }
        var allVariants = false
        var slow: Range<Int>?
        var paused: Range<Int>?
        var latency = Duration.milliseconds(20)
    }

    private static func fault(
        _ kind: LowLatencyOrigin.Fault.Kind, _ range: Range<Int>
    ) -> @Sendable (inout LowLatencyOrigin) -> Void {
        { $0.faults = [.init(kind, during: .seconds(range.lowerBound)..<(.seconds(range.upperBound)))] }
    }

    /// Returns a change that delays media, so that playback begins later in the stream.
    private static func slowStart(_ independentInterval: Int) -> @Sendable (inout LowLatencyOrigin) -> Void {
        {
            $0.independentInterval = independentInterval
            $0.bitRates = [400_000, 2_000_000]
        }
    }

    static let streams = [
        Stream(testDescription: "files"),
        Stream(testDescription: "ranges of a file that grows", change: { $0.addressing = .ranges }),
        Stream(testDescription: "parts of which the last are not listed", change: fault(.dropsLastParts(1), 5..<20)),
        Stream(testDescription: "no part is independent", change: fault(.hidesIndependence, 5..<20)),
        Stream(testDescription: "an encoder that pauses", change: fault(.pauses, 8..<12)),
        Stream(testDescription: "numbers that jump", change: fault(.renumbers(by: 1000), 8..<1000)),
        Stream(testDescription: "held requests that end badly", change: fault(.status(503), 8..<14)),
        Stream(testDescription: "nothing is held any more", change: fault(.doesNotHold, 8..<1000)),
        Stream(testDescription: "other variants", allVariants: true, slow: 10..<18),
        Stream(testDescription: "a pause of the player", paused: 8..<12),
        Stream(testDescription: "a start that waits for its media", change: slowStart(4), latency: .milliseconds(150)),
        Stream(
            testDescription: "a start that moves on to another picture", change: slowStart(1),
            latency: .milliseconds(150)),
        Stream(testDescription: "a pause, and other variants", allVariants: true, slow: 14..<20, paused: 8..<12),
    ]

    private static func record(_ stream: Stream) throws -> (timestamps: [Int64], log: EventLog) {
        var origin = LowLatencyOrigin()
        origin.windowSegmentCount = 16
        stream.change(&origin)
        let clock = VirtualClock()
        let fast = LinkConditions(bitsPerSecond: 8_000_000, latency: stream.latency)
        let slow = LinkConditions(bitsPerSecond: 700_000, latency: stream.latency)
        let trace =
            if let range = stream.slow {
                try NetworkTrace(periods: [
                    .init(duration: .seconds(range.lowerBound), conditions: fast),
                    .init(duration: .seconds(range.count), conditions: slow),
                    .init(duration: .seconds(1000), conditions: fast),
                ])
            } else {
                NetworkTrace(constant: fast)
            }
        let made = origin
        let transport = SimulatedTransport(over: trace, clock: clock) { made.response(to: $0) }
        let player = Player(configuration: PlayerConfiguration(clock: clock, transport: transport))
        let item = PlayerItem(urlString: stream.allVariants ? origin.url : origin.url(ofVariant: 1))
        item.fellBehindPolicy = .jumpToOldest
        let writer = Timestamps()
        item.add(writer)
        let events = player.events()
        player.play()
        try player.replaceCurrentItem(with: item)
        let log = try clock.run {
            if let range = stream.paused {
                try await clock.sleep(for: .seconds(range.lowerBound))
                player.pause()
                try await clock.sleep(for: .seconds(range.count))
                player.play()
            }
            try await clock.sleep(until: clock.now.advanced(by: .seconds(40) - clock.now.offset))
            await player.close()
            var log = EventLog()
            for await event in events { log.append(event) }
            return log
        }
        return (writer.all, log)
    }

    @Test("M05: whatever happens to parts, a recording has each frame exactly once, in order", arguments: streams)
    func recording(_ stream: Stream) throws {
        let (timestamps, log) = try Self.record(stream)
        #expect(zip(timestamps, timestamps.dropFirst()).allSatisfy { $0 < $1 }, "\(log.text)")
        let counts = Dictionary(grouping: timestamps) { $0 / Self.partLength }.mapValues(\.count)
        let parts = counts.keys.sorted()
        let (first, last) = (try #require(parts.first), try #require(parts.last))
        #expect(parts == Array(first...last), "\(parts)\n\(log.text)")
        // The first and the last part may be incomplete.
        let whole = counts.filter { $0.key != first && $0.key != last }
        #expect(whole.values.allSatisfy { $0 == Self.framesPerPart }, "\(whole.filter { $0.value != 12 })")
        #expect(parts.count > 40, "\(parts.count)\n\(log.text)")
        #expect(
            (log.lines.contains { $0.contains("-> 0") || $0.contains("-> 1") && $0.contains("variant 0") })
                == (stream.slow != nil), "\(log.text)")
    }
}
