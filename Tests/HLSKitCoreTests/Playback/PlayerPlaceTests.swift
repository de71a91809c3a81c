import Foundation
import HLSKitEngine
import HLSKitLoading
import HLSKitPlayback
import HLSKitSimulation
import HLSKitTime
import TestSupport
import Testing

@Suite("Positions on a player's timeline", .timeLimit(.minutes(10)))
struct PlayerPlaceTests {
    /// The start of segment 0: 2026-01-02T03:04:05.5Z.
    private static let epoch = Date(timeIntervalSince1970: 1_767_323_045.5)

    private static func dated() throws -> VirtualLive {
        var live = try VirtualLive()
        live.tags = { index in
            let second = 5 + 4 * index
            return index % 2 == 0
                ? ["#EXT-X-PROGRAM-DATE-TIME:2026-01-02T03:04:\(second < 10 ? "0" : "")\(second).5Z"] : []
        }
        return live
    }

    @Test("G06: a seek to a date shows that date's frame, and currentDate returns the date")
    func dates() throws {
        let bench = try VirtualBench(try Self.dated())
        let results = try bench.play { bench in
            try await bench.pass(.seconds(1))
            let first = bench.item.currentDate
            let within = try await bench.player.seek(to: Self.epoch.addingTimeInterval(6.2))
            let then = (bench.time, bench.item.currentDate)
            let outside = [
                try await bench.player.seek(to: Self.epoch.addingTimeInterval(-10)),
                try await bench.player.seek(to: Self.epoch.addingTimeInterval(1000)),
            ]
            return (first, within, then, outside, bench.time)
        }
        #expect(results.1)
        #expect(abs(results.2.0 - 6.2) < 0.001)
        #expect(abs(try #require(results.2.1).timeIntervalSince(Self.epoch) - 6.2) < 0.001)
        #expect(try #require(results.0) > Self.epoch.addingTimeInterval(8))
        #expect(results.3 == [false, false])
        #expect(abs(results.4 - 6.2) < 0.1)
    }

    @Test("G06: without dates a seek to a date fails, and no date is reported")
    func noDates() throws {
        let bench = try VirtualBench()
        let (found, date) = try bench.play { bench in
            try await bench.pass(.seconds(1))
            return (try await bench.player.seek(to: Self.epoch), bench.item.currentDate)
        }
        #expect(!found)
        #expect(date == nil)
    }

    @Test("G07, M02: seekToLiveEdge goes to the configured distance, which the item reports")
    func edge() throws {
        let bench = try VirtualBench(try VirtualLive())
        let results = try bench.play { bench in
            try await bench.pass(.seconds(1))
            let offsets = [bench.item.configuredTimeOffsetFromLive, bench.item.recommendedTimeOffsetFromLive]
            _ = try await bench.seek(1000)
            bench.item.configuredTimeOffsetFromLive = MediaTime(value: 5, timescale: 1)
            let reached = await bench.player.seekToLiveEdge()
            let configured = bench.item.configuredTimeOffsetFromLive
            return (offsets, reached, bench.player.state.liveOffset?.seconds, configured)
        }
        #expect(results.0.map { $0?.seconds } == [12, 12])
        #expect(results.1)
        #expect((4...6).contains(try #require(results.2)))
        #expect(results.3?.seconds == 5)
    }

    @Test("M02: an item that is not live has no live offsets")
    func notLive() throws {
        let bench = try VirtualBench()
        let offsets = try bench.play { bench in
            try await bench.pass(.seconds(1))
            return [bench.item.configuredTimeOffsetFromLive, bench.item.recommendedTimeOffsetFromLive]
        }
        #expect(offsets == [nil, nil])
    }

    struct Drift: CustomTestStringConvertible {
        var claimed: Double
        var target: Int
        var testDescription: String { "\(claimed) s, to \(target) ms" }
    }

    static let drifts = [
        Drift(claimed: 4.5, target: 29_000), Drift(claimed: 3.4, target: 29_000), Drift(claimed: 5.5, target: 48_000),
        Drift(claimed: 2.5, target: 21_000), Drift(claimed: 4.05, target: 30_000), Drift(claimed: 3.98, target: 30_000),
    ]

    @Test(
        "G14: with wrong playlist durations a seek still lands at its time, with two segments",
        arguments: drifts)
    func drift(_ drift: Drift) throws {
        let media = try SampleMedia.rendition("video-180p")
        var lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:6", "#EXT-X-MAP:URI=\"init.mp4\""]
        var files = ["init.mp4": media.initializationSection]
        for (index, segment) in media.segments.enumerated() {
            files["d\(index).m4s"] = segment
            lines += ["#EXTINF:\(drift.claimed),", "d\(index).m4s"]
        }
        files["drift.m3u8"] = Array((lines + ["#EXT-X-ENDLIST", ""]).joined(separator: "\n").utf8)
        let bench = try VirtualBench("drift.m3u8", quality: nil, files: files) {
            $0.buffering.forwardDuration = .seconds(6)
        }
        let target = Duration.milliseconds(drift.target)
        let results = try bench.play { bench in
            try await bench.pass(.seconds(1))
            let before = (bench.writer.frames.count, bench.transport.urls.count)
            let found = try await bench.seek(drift.target)
            let requested = bench.transport.urls.count - before.1
            try await bench.pass(.seconds(2))
            return (found, before.0, requested, bench.player.timeControlStatus, bench.time)
        }
        #expect(results.0)
        #expect(results.2 <= 2)
        #expect(results.3 == .playing)
        #expect(abs(results.4 - target.seconds - 2) < 0.3)
        let shown = bench.writer.frames.dropFirst(results.1).map(\.time)
        let first = try #require(shown.first { $0 >= target - .milliseconds(500) })
        #expect(abs(first - target) <= .milliseconds(500))
        // Two seconds have 50 frames. Some are missing at the start or still in the decoder.
        #expect(shown.filter { $0 >= target - .milliseconds(500) }.count >= 36)
    }

    @Test("an item reports events from before it is attached until it is released")
    func itemEvents() throws {
        let bench = try VirtualBench()
        let events = bench.item.events()
        let other = PlayerItem(urlString: "http://sample/other.m3u8")
        let silent = other.events()
        _ = try bench.play { bench in
            try await bench.pass(.seconds(1))
            bench.player.rate = 1.5
            return try await bench.seek(38_000)
        }
        let kinds = try bench.clock.run {
            var kinds: [String] = []
            for await event in events {
                switch event.kind {
                case .itemStatusChanged(.readyToPlay): kinds.append("ready")
                case .timeJumped: kinds.append("jumped")
                case .timeControl, .rateChanged, .currentItemChanged: kinds.append("of the player")
                default: continue
                }
                if case .timeJumped = event.kind { break }
            }
            return kinds
        }
        #expect(kinds == ["ready", "jumped"])
        withExtendedLifetime(other) {}
        _ = silent
    }
}
