import Foundation
import HLSKitCore
import HLSKitSimulation
import Synchronization
import Testing

@Suite("Time observers", .timeLimit(.minutes(10)))
struct TimeObserverTests {
    private static func time(_ seconds: Double) -> MediaTime { MediaTime(seconds: seconds, preferredTimescale: 1000) }

    private struct Bench {
        let clock: VirtualClock
        let player: Player
        let reported: Reported

        final class Reported: Sendable {
            private let times = Mutex<[Double]>([])
            func add(_ time: MediaTime) { times.withLock { $0.append((time.seconds * 1000).rounded() / 1000) } }
            func take() -> [Double] {
                times.withLock { times in
                    defer { times = [] }
                    return times
                }
            }
        }

        init(_ queue: VirtualQueue) {
            clock = queue.clock
            player = Player(configuration: queue.configuration)
            reported = Reported()
        }

        func watch<Times: AsyncSequence & Sendable>(_ times: Times) -> Task<Void, Never>
        where Times.Element == MediaTime, Times.Failure == Never {
            let reported = reported
            return Task(executorPreference: clock) {
                for await time in times { reported.add(time) }
            }
        }

        func play(_ item: PlayerItem) async throws {
            let events = player.events()
            player.play()
            try player.replaceCurrentItem(with: item)
            for await event in events {
                if case .timeControl(let change) = event.kind, change.new == .playing { break }
            }
        }

        func pass(_ milliseconds: Int) async throws { try await clock.sleep(for: .milliseconds(milliseconds)) }

        func seek(to seconds: Double) async throws {
            let time = TimeObserverTests.time(seconds)
            let isThere = try await player.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero)
            #expect(isThere)
        }
    }

    @Test(
        "B11: times arrive at each interval, at starts and stops, once per jump; end with the player"
    )
    func periodic() throws {
        let queue = try VirtualQueue(["a": 10])
        let bench = Bench(queue)
        try queue.clock.run {
            let watcher = bench.watch(try bench.player.times(every: Self.time(0.5)))
            try await bench.play(queue.item("a"))
            try await bench.pass(1750)
            bench.player.pause()
            try await bench.pass(1000)
            // One call is for the new item, the next for the start of time.
            #expect(bench.reported.take() == [0, 0, 0.5, 1, 1.5, 1.75])
            try await bench.seek(to: 6)
            try await bench.pass(1000)
            #expect(bench.reported.take() == [6])
            bench.player.rate = 2
            try await bench.pass(600)
            #expect(bench.reported.take() == [6, 6.5, 7])
            await bench.player.close()
            await watcher.value
        }
    }

    @Test("B12: passed boundaries are reported, skipped ones are not; after a seek back they are repeated")
    func boundaries() throws {
        let queue = try VirtualQueue(["a": 10])
        let bench = Bench(queue)
        try queue.clock.run {
            let watcher = bench.watch(try bench.player.boundaries([6.5, 1, 2, 3].map(Self.time)))
            try await bench.play(queue.item("a"))
            try await bench.pass(1200)
            #expect(bench.reported.take() == [1])
            try await bench.seek(to: 3)
            try await bench.pass(500)
            #expect(bench.reported.take() == [])
            try await bench.seek(to: 6)
            try await bench.pass(1000)
            #expect(bench.reported.take() == [6.5])
            try await bench.seek(to: 0.5)
            try await bench.pass(2000)
            #expect(bench.reported.take() == [1, 2])
            await bench.player.close()
            await watcher.value
        }
    }

    @Test("B07: rate is the request, the timebase the actual speed; it converts future host times")
    func timebase() throws {
        let queue = try VirtualQueue(["a": 6])
        let bench = Bench(queue)
        try queue.clock.run {
            let item = queue.item("a")
            #expect(item.timebase.rate == 0)
            bench.player.play()
            try bench.player.replaceCurrentItem(with: item)
            #expect(bench.player.rate == 1)
            #expect(item.timebase.rate == 0)
            #expect(bench.player.timeControlStatus == .waitingToPlayAtSpecifiedRate)
            try await bench.pass(2000)
            bench.player.rate = 2
            let (now, base) = (bench.player.sourceClock.now, item.timebase)
            #expect(base.rate == 2)
            let time = item.currentTime
            #expect(base.time(atHostTime: now) == time)
            #expect((base.time(atHostTime: now + .seconds(1)) - time).seconds == 2)
            #expect(base.time(atHostTime: now + .seconds(100)).seconds == 6, "not beyond the end")
            try await bench.pass(1000)
            #expect((item.currentTime - time).seconds == 2)
            bench.player.pause()
            #expect(item.timebase.rate == 0)
            await bench.player.close()
        }
    }

    @Test("G09: play() uses the default rate, and setting a rate does not change it")
    func defaultRate() throws {
        let queue = try VirtualQueue(["a": 10])
        let bench = Bench(queue)
        try queue.clock.run {
            #expect(bench.player.defaultRate == 1)
            bench.player.defaultRate = 1.5
            #expect(bench.player.rate == 0)
            try await bench.play(queue.item("a"))
            #expect(bench.player.rate == 1.5)
            bench.player.rate = 0.5
            #expect(bench.player.defaultRate == 1.5)
            bench.player.pause()
            bench.player.play()
            #expect(bench.player.rate == 1.5)
            await bench.player.close()
        }
    }

    @Test("B10: the current date is the segment's plus the offset in it; nil without dates", arguments: [true, false])
    func date(hasDates: Bool) throws {
        let clock = VirtualClock()
        let stream = SyntheticStream(bitRates: [400_000], segmentDuration: .seconds(2), segmentCount: 5)
        let link = LinkConditions(bitsPerSecond: 20_000_000, latency: .milliseconds(20))
        let transport = SimulatedTransport(over: NetworkTrace(constant: link), clock: clock) { request in
            var response = stream.response(to: request)
            if hasDates, request.urlString.hasSuffix("/0/index.m3u8") {
                let text = String(decoding: response.body, as: UTF8.self)
                let date = "#EXT-X-PROGRAM-DATE-TIME:2026-05-01T20:00:00Z\n"
                response.body = Array(text.replacing("#EXTINF", with: date + "#EXTINF", maxReplacements: 1).utf8)
            }
            return response
        }
        var configuration = PlayerConfiguration(clock: clock, transport: transport)
        configuration.decodesWithoutOutput = [.video]
        let player = Player(configuration: configuration)
        try clock.run {
            let item = PlayerItem(urlString: stream.urlString)
            try player.replaceCurrentItem(with: item)
            #expect(item.currentDate == nil)
            try await clock.sleep(for: .seconds(2))
            _ = try await player.seek(to: Self.time(4.25), toleranceBefore: .zero, toleranceAfter: .zero)
            let seconds = item.currentDate?.timeIntervalSince1970
            #expect(seconds == (hasDates ? 1_777_665_600 + item.currentTime.seconds : nil))
            #expect(abs(item.currentTime.seconds - 4.25) < 0.05)
            await player.close()
        }
    }
}
