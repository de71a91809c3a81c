import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitSelection
import HLSKitSimulation
import HLSKitTime
import Synchronization
import TestSupport
import Testing

@testable import HLSKitPlayback

@Suite("Driver and its worker", .timeLimit(.minutes(10)))
struct DriverWorkTests {
    /// Plays the sample with subtitles. If `isHeld`, the playlist of another variant is being parsed from 8 s to 14 s.
    private static func play(on held: HeldWork, isHeld: Bool) throws -> VirtualSample {
        let subtitles = try QualityExpression(parsing: "lang=en", for: .renditions)
        let sample = try VirtualSample(
            end: .seconds(30),
            change: {
                $0.workQueue = held.queue
                // Limits the buffer, so that much media is still to be loaded when the variant changes.
                $0.buffering.forwardDuration = .seconds(12)
            }, prefer: { $0.subtitles = subtitles })
        sample.item.add(CapturingWriter())
        let other = try QualityExpression(parsing: "360p")
        try sample.play { time in
            if time == .seconds(8) {
                if isHeld { held.hold() }
                sample.item.quality = other
            }
            if time == .seconds(14), isHeld {
                #expect(held.count > 0)
                held.release()
            }
        }
        return sample
    }

    @Test("parsing a large playlist delays no cue, timer or frame")
    func largePlaylist() throws {
        let held = HeldWork()
        let (calm, busy) = (try Self.play(on: held, isHeld: false), try Self.play(on: held, isHeld: true))
        func cues(_ sample: VirtualSample) -> [String] {
            sample.events.elements.compactMap { event in
                if case .legibleCue(let cue) = event.kind { "\(event.hostTime) \(cue.text)" } else { nil }
            }
        }
        #expect(cues(busy) == cues(calm))
        let shown = busy.events.elements.filter { event in
            if case .legibleCue = event.kind {
                (.seconds(9)..<(.seconds(14))).contains(event.hostTime.offset)
            } else {
                false
            }
        }
        #expect(shown.count > 1)
        #expect(busy.timeControlChanges == calm.timeControlChanges)
        #expect(busy.item.error == nil)
    }

    @Test("media being demuxed during a seek is not presented")
    func flush() throws {
        let held = HeldWork()
        let bench = try VirtualBench(bitsPerSecond: 1_000_000) { $0.workQueue = held.queue }
        try bench.play { bench in
            try await bench.pass(.seconds(2))
            held.hold()
            try await bench.pass(.milliseconds(500))
            #expect(held.count > 0)
            async let isThere = bench.seek(30_000)
            try await bench.pass(.milliseconds(100))
            let count = bench.writer.frames.count
            held.release()
            #expect(try await isThere)
            try await bench.pass(.seconds(2))
            let after = bench.writer.frames.dropFirst(count).map(\.time)
            #expect(after.first == .seconds(30))
            #expect(after.count > 10)
            #expect(zip(after, after.dropFirst()).allSatisfy { $1 - $0 == .milliseconds(40) })
        }
    }

    @Test("closing waits for the running demuxing and delivers none of its media")
    func close() throws {
        let held = HeldWork()
        let bench = try VirtualBench(bitsPerSecond: 1_000_000) { $0.workQueue = held.queue }
        try bench.play { bench in
            try await bench.pass(.seconds(2))
            held.hold()
            try await bench.pass(.milliseconds(500))
            #expect(held.count > 0)
            let counts = (bench.writer.frames.count, bench.writer.sounds.count)
            async let closed: Void = bench.player.close()
            try await bench.pass(.milliseconds(100))
            held.release()
            await closed
            #expect((bench.writer.frames.count, bench.writer.sounds.count) == counts)
        }
    }

    private final class LockCounter: ResourceTransport {
        private let base: any ResourceTransport
        let lockCount = Mutex<@Sendable () -> Int>({ 0 })
        let counts = Mutex<[Int]>([])

        init(_ base: any ResourceTransport) { self.base = base }

        func start(
            _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
        ) -> any TransportTask {
            base.start(request) { [self] event in
                if case .data = event, request.urlString.hasSuffix(".ts") {
                    let count = lockCount.withLock { $0() }
                    counts.withLock { $0.append(count) }
                }
                handler(event)
            }
        }
    }

    #if DEBUG
        @Test("the player's lock is taken once per piece of media", arguments: [false, true])
        func locks(isConcurrent: Bool) async throws {
            let stream = try SampleTransportStream().segments().flatMap(\.self)
            let list = "#EXTM3U\n#EXT-X-TARGETDURATION:40\n#EXTINF:40,\nall.ts\n#EXT-X-ENDLIST\n"
            let held = HeldWork()
            let clock = VirtualClock()
            let network = NetworkTrace(constant: LinkConditions(bitsPerSecond: 400_000, latency: .milliseconds(20)))
            let counter = LockCounter(
                SimulatedTransport(over: network, clock: clock) { request in
                    SimulatedResponse(body: request.urlString.hasSuffix("ts") ? stream : Array(list.utf8))
                })
            var configuration = PlayerConfiguration(clock: clock, transport: counter)
            configuration.decodesWithoutOutput = [.video, .audio]
            if isConcurrent { configuration.workQueue = held.queue }
            let player = Player(configuration: configuration)
            let core = player.core
            counter.lockCount.withLock { $0 = { core.state.acquisitionCount } }
            try player.replaceCurrentItem(with: PlayerItem(urlString: "http://sample/list.m3u8"))
            try clock.run {
                try await clock.sleep(for: .seconds(20))
                await player.close()
            }
            let counts = counter.counts.withLock(\.self)
            let taken = zip(counts, counts.dropFirst()).map { $1 - $0 }.sorted()
            #expect(taken.count > 100)
            let name = isConcurrent ? "beside the driver" : "by the driver"
            Figures.note(
                "locks of the player for each piece of media, work \(name)",
                Double(taken.reduce(0, +)) / Double(taken.count))
            // Other events in between, such as a first frame or a timer, also take the lock.
            #expect(taken[taken.count * 8 / 10] <= 1)
        }
    #endif

    @Test("small work is not given to other threads")
    func littleWork() throws {
        let runCount = Mutex(0)
        let queue = WorkQueue(
            run: { work in
                runCount.withLock { $0 += 1 }
                work()
            }, turnByteCount: 1 << 30)
        let sample = try VirtualSample(end: .seconds(20)) { $0.workQueue = queue }
        let writer = CapturingWriter()
        sample.item.add(writer)
        try sample.play { _ in }
        #expect(writer.frames.count > 400)
        #expect(runCount.withLock(\.self) == 0)
    }

    @Test(
        "all frames of a variant arrive in order, however work is delayed",
        arguments: [7, 50, 333, 1000], [0, 20_000])
    func anyHold(period: Int, turnByteCount: Int) throws {
        let held = HeldWork()
        var queue = held.queue
        queue.turnByteCount = turnByteCount
        let sample = try VirtualSample(end: .seconds(20)) { $0.workQueue = queue }
        let writer = CapturingWriter()
        sample.item.add(writer)
        var step = 0
        try sample.play { _ in
            step += 1
            if step % (period / 7 + 2) == 0 { held.release() } else if step % 3 == 0 { held.hold() }
        }
        #expect(writer.frames.map(\.hash) == Array(try SampleMedia.frameHashes(of: "180p").prefix(500)))
    }
}
