import Foundation
import HLSKitAsset
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitSelection
import HLSKitSimulation
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitPlayback

@Suite("Player, seeking", .timeLimit(.minutes(10)))
struct PlayerSeekTests {
    enum Packing: String, CaseIterable, CustomTestStringConvertible {
        case separateFMP4, muxedTS
        var testDescription: String { rawValue }
    }

    private static func transportStream() async throws -> [UInt8] {
        let folder = try ScratchFolder()
        let path = folder.path + "/sample.ts"
        let item = try PlayerItem(
            "file://\(SampleMedia.folder)/master.m3u8", quality: "180p",
            to: Remuxer(file: try OutputFile(path: path), container: .ts))
        let play = try await Play.toEnd(item, .unpaced())
        #expect(play.didPlayToEnd)
        for slot in item.outputs.writers { try slot.writer.finish() }
        return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    private static let playlist = """
        #EXTM3U
        #EXT-X-TARGETDURATION:40
        #EXTINF:40,
        sample.ts
        #EXT-X-ENDLIST

        """

    private static func bench(
        _ packing: Packing, change: (inout PlayerConfiguration) -> Void = { _ in }
    ) async throws -> VirtualBench {
        switch packing {
        case .separateFMP4: try VirtualBench(change: change)
        case .muxedTS:
            try VirtualBench(
                "ts.m3u8", quality: nil,
                files: ["ts.m3u8": Array(playlist.utf8), "sample.ts": await transportStream()], change: change)
        }
    }

    private static func check(
        _ frames: ArraySlice<CapturingWriter.Frame>, from first: Int, _ comment: Comment,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let hashes = try SampleMedia.frameHashes(of: "180p")
        let indices = frames.map { Int(($0.time / .milliseconds(40)).rounded()) }
        #expect(indices.first == first, comment, sourceLocation: sourceLocation)
        #expect(indices == Array(first..<first + indices.count), comment, sourceLocation: sourceLocation)
        for (frame, index) in zip(frames, indices) where hashes.indices.contains(index) {
            #expect(frame.hash == hashes[index], comment, sourceLocation: sourceLocation)
        }
    }

    @Test(
        "G02: a seek with zero tolerance in the buffer shows its frame and continues without a request",
        arguments: Packing.allCases)
    func exact(packing: Packing) async throws {
        let bench = try await Self.bench(packing) { $0.buffering.forwardDuration = .seconds(60) }
        try bench.play { bench in
            try await bench.pass(.seconds(11))
            let requestCount = bench.transport.urls.count
            for target in [2000, 3990, 4000, 9520, 12_345, 30_000, 1, 39_900] {
                let (frames, sounds) = (bench.writer.frames.count, bench.writer.sounds.count)
                #expect(try await bench.seek(target))
                #expect(abs(bench.time - Double(target) / 1000) < 0.001)
                #expect(bench.player.timeControlStatus == .playing)
                try await bench.pass(.milliseconds(500))
                let new = bench.writer.frames[frames...]
                try Self.check(new, from: target / 40, "\(target)")
                #expect(new.count >= min(12, 1000 - target / 40))
                let heard = bench.writer.sounds[sounds...]
                let audio = try #require(heard.first)
                #expect(audio.time <= .milliseconds(target) && audio.time + audio.length > .milliseconds(target))
            }
            #expect(bench.transport.urls.count == requestCount)
            #expect(bench.player.state.statistics.numberOfStalls == 0)
        }
    }

    @Test("G01: a seek to unloaded media loads from its segment on and shows its frame")
    func unbuffered() async throws {
        let bench = try VirtualBench { $0.buffering.forwardDuration = .seconds(6) }
        try bench.play { bench in
            try await bench.pass(.seconds(2))
            for target in [30_500, 18_020, 35_960] {
                let frames = bench.writer.frames.count
                #expect(try await bench.seek(target))
                try await bench.pass(.seconds(1))
                try Self.check(bench.writer.frames[frames...], from: target / 40, "\(target)")
                #expect(bench.player.timeControlStatus == .playing)
            }
            #expect(bench.player.state.statistics.numberOfStalls == 0)
        }
    }

    @Test(
        "a seek into a segment before its first key frame also loads the segment before it",
        arguments: [0, 1000, 3000], [false, true])
    func betweenKeyFrames(cut: Int, isStart: Bool) async throws {
        let files = try SampleTransportStream(cut: .milliseconds(cut)).files()
        for index in [5, 9, 3] {
            let target = 4000 * index + cut + 520
            let bench = try VirtualBench("ts.m3u8", quality: nil, files: files) {
                $0.buffering.forwardDuration = .seconds(4)
            }
            if isStart { bench.item.startPosition = .time(.milliseconds(Int64(target))) }
            try bench.play { bench in
                if !isStart { try await bench.pass(.seconds(1)) }
                let (count, requestCount) = (bench.writer.frames.count, bench.transport.urls.count)
                if !isStart { #expect(try await bench.seek(target)) }
                try await bench.pass(.seconds(1))
                let frames = bench.writer.frames[count...]
                if isStart {
                    // The first frame in decoding order, which is not the first shown one, is placed at the listed start.
                    let place = target / 40
                    let hashes = try SampleMedia.frameHashes(of: "180p")[place - 5..<place + 5]
                    #expect(frames.first.map { Int(($0.time / .milliseconds(40)).rounded()) } == place)
                    #expect(frames.first.map { hashes.contains($0.hash) } == true)
                } else {
                    try Self.check(frames, from: target / 40, "\(target)")
                }
                #expect(bench.player.timeControlStatus == .playing || index == 9)
                let names = bench.transport.urls[requestCount...].compactMap { $0.split(separator: "/").last }
                #expect(names.contains("ts-\(index - 1).ts") == (cut > 0), "\(names)")
                #expect(!names.contains("ts-\(index - 2).ts"), "\(names)")
            }
        }
    }

    struct Tolerant: CustomTestStringConvertible {
        var target: Int
        var before: Int?
        var after: Int?
        var first: Int
        var testDescription: String { "\(target) − \(before ?? -1) + \(after ?? -1)" }
    }

    @Test(
        "G02: with tolerances playback continues at a sync frame if one lies inside",
        arguments: [
            Tolerant(target: 9000, before: nil, after: nil, first: 200),
            Tolerant(target: 9000, before: 1000, after: 0, first: 200),
            Tolerant(target: 9000, before: 900, after: 3000, first: 300),
            Tolerant(target: 9000, before: 900, after: 2900, first: 225),
            Tolerant(target: 9000, before: 0, after: nil, first: 300),
            Tolerant(target: 8000, before: 0, after: 0, first: 200),
        ], [true, false])
    func tolerance(_ seek: Tolerant, isBuffered: Bool) async throws {
        // Without buffered media the next sync sample is not loaded yet, so the exact frame is as good.
        if !isBuffered, seek.first == 300 { return }
        let bench = try VirtualBench { if !isBuffered { $0.buffering.forwardDuration = .seconds(4) } }
        try bench.play { bench in
            if isBuffered { try await bench.pass(.seconds(1)) } else { try await bench.pass(.milliseconds(200)) }
            func time(_ milliseconds: Int?) -> MediaTime {
                milliseconds.map { MediaTime(value: Int64($0), timescale: 1000) } ?? .positiveInfinity
            }
            let frames = bench.writer.frames.count
            let finished = try await bench.player.seek(
                to: time(seek.target), toleranceBefore: time(seek.before), toleranceAfter: time(seek.after))
            #expect(finished)
            #expect(abs(bench.time - Double(seek.first) * 0.04) < 0.001)
            try await bench.pass(.seconds(1))
            try Self.check(bench.writer.frames[frames...], from: seek.first, "\(seek)")
        }
    }

    @Test("G01: a seek while paused shows its frame; playback continues from there")
    func paused() async throws {
        let bench = try VirtualBench()
        try bench.play { bench in
            try await bench.pass(.seconds(3))
            bench.player.pause()
            let frames = bench.writer.frames.count
            #expect(try await bench.seek(20_010))
            try await bench.pass(.seconds(5))
            #expect(bench.writer.frames.count == frames + 1)
            #expect(bench.time == 20.01)
            bench.player.play()
            try await bench.pass(.seconds(1))
            try Self.check(bench.writer.frames[frames...], from: 500, "paused")
        }
    }

    @Test("G03: a newer seek supersedes the previous one at once; only the last of 500 seeks applies")
    func storm() async throws {
        let bench = try VirtualBench { $0.buffering.forwardDuration = .seconds(8) }
        let outcomes = try bench.play { bench in
            try await bench.pass(.seconds(2))
            var random = SplitMix64(seed: 7)
            var seeks: [Task<Bool, any Error>] = []
            for index in 0..<500 {
                let target = index == 499 ? 36_000 : Int(random.next() % 40_000)
                let tolerance = [0, 300, nil][Int(random.next() % 3)]
                seeks.append(
                    Task(executorPreference: bench.clock) {
                        try await bench.seek(target, tolerance: index == 499 ? 0 : tolerance)
                    })
                if random.next() % 4 == 0 { try await bench.pass(.milliseconds(Int64(random.next() % 40))) }
            }
            var outcomes: [Bool] = []
            for seek in seeks { outcomes.append(try await seek.value) }
            let frames = bench.writer.frames.count
            try await bench.pass(.milliseconds(200))
            #expect(bench.player.timeControlStatus == .playing)
            #expect(bench.time >= 36)
            #expect(bench.writer.frames.count > frames)
            return outcomes
        }
        #expect(outcomes.last == true)
        // Only seeks that have enough time finish before the next one starts.
        #expect(outcomes.count { $0 } < 250)
    }

    @Test("G03: cancelling pending seeks, or one seek's task, ends it with false and no other")
    func cancel() async throws {
        let bench = try VirtualBench { $0.buffering.forwardDuration = .seconds(6) }
        try bench.play { bench in
            try await bench.pass(.seconds(2))
            let first = Task(executorPreference: bench.clock) { try await bench.seek(30_000) }
            await Task.yield()
            bench.item.cancelPendingSeeks()
            #expect(try await first.value == false)
            let second = Task(executorPreference: bench.clock) { try await bench.seek(20_000) }
            await Task.yield()
            let third = Task(executorPreference: bench.clock) { try await bench.seek(36_000) }
            await Task.yield()
            second.cancel()
            #expect(try await second.value == false)
            #expect(try await third.value)
            let fourth = Task(executorPreference: bench.clock) { try await bench.seek(10_000) }
            await Task.yield()
            fourth.cancel()
            #expect(try await fourth.value == false)
            let fifth = Task(executorPreference: bench.clock) { try await bench.seek(16_000) }
            await Task.yield()
            try bench.player.replaceCurrentItem(with: nil)
            #expect(try await fifth.value == false)
            #expect(try await bench.seek(5) == false)
        }
    }

    @Test("G01: a seek before the item is ready becomes its start; the last of two wins")
    func beforeReady() async throws {
        let bench = try VirtualBench()
        try bench.play { bench in
            let first = Task(executorPreference: bench.clock) { try await bench.seek(5000) }
            await Task.yield()
            #expect(try await bench.seek(18_010))
            #expect(try await first.value == false)
            try await bench.pass(.seconds(1))
            try Self.check(bench.writer.frames[...], from: 450, "start")
            // Nothing before the segment of the start position is loaded.
            #expect(bench.player.state.loadedTimeRanges.first?.start == MediaTime(value: 16, timescale: 1))
        }
    }

    @Test("G01: frames that a seek discards are not dropped", arguments: [Packing.separateFMP4, .muxedTS])
    func discarded(packing: Packing) async throws {
        let bench = try await Self.bench(packing)
        try bench.play { bench in
            for target in [11_990, 25_500, 17_130, 37_010, 3000] {
                try await bench.pass(.milliseconds(1300))
                #expect(try await bench.seek(target))
            }
            try await bench.pass(.seconds(1))
            #expect(bench.player.state.statistics.numberOfDroppedVideoFrames == 0)
        }
    }

    @Test("G01: a start position shows its frame, also while paused, and playback continues from there")
    func startPosition() async throws {
        let bench = try VirtualBench()
        bench.item.startPosition = .time(.milliseconds(18_010))
        try bench.play { bench in
            bench.player.pause()
            try await bench.pass(.seconds(5))
            #expect(bench.writer.frames.count == 1)
            #expect(bench.time == 18.01)
            bench.player.play()
            try await bench.pass(.seconds(1))
            try Self.check(bench.writer.frames[...], from: 450, "start")
        }
    }

    @Test("G01: a seek to an invalid time throws an error, and one outside the range returns false")
    func refused() async throws {
        let bench = try VirtualBench()
        try bench.play { bench in
            try await bench.pass(.seconds(2))
            for time in [MediaTime.invalid, .indefinite] {
                await #expect(throws: HLSError.self) { try await bench.player.seek(to: time) }
                await #expect(throws: HLSError.self) {
                    try await bench.player.seek(to: .zero, toleranceBefore: time)
                }
            }
            await #expect(throws: HLSError.self) {
                try await bench.player.seek(to: .zero, toleranceAfter: MediaTime(value: -1, timescale: 1))
            }
            #expect(try await bench.seek(41_000) == false)
            #expect(try await bench.seek(-1) == false)
            #expect(try await bench.player.seek(to: .negativeInfinity) == false)
            #expect(bench.player.timeControlStatus == .playing)
            let events = bench.player.events()
            #expect(try await bench.player.seek(to: .positiveInfinity))
            var jumps: [Double] = []
            for await event in events {
                if case .timeJumped(let time) = event.kind { jumps.append(time.seconds) }
                if event.isEnd { break }
            }
            #expect(jumps.map { ($0 * 10).rounded() } == [400])
        }
    }

    @Test("B08: a rate with a host time needs manual waiting; then item and host time meet, with frames")
    func hostTime() async throws {
        let bench = try VirtualBench()
        try bench.play { bench in
            try await bench.pass(.seconds(2))
            let half = Duration.milliseconds(500)
            #expect(throws: HLSError.self) {
                try bench.player.setRate(1, time: .zero, atHostTime: bench.player.sourceClock.now)
            }
            bench.player.automaticallyWaitsToMinimizeStalling = false
            var frames = bench.writer.frames.count
            try bench.player.setRate(
                1, time: MediaTime(value: 20, timescale: 1), atHostTime: bench.player.sourceClock.now - half)
            #expect(bench.time == 20.5)
            try await bench.pass(.seconds(1))
            #expect(abs(bench.time - 21.5) < 0.001)
            try Self.check(bench.writer.frames[frames...], from: 512, "past")
            frames = bench.writer.frames.count
            try bench.player.setRate(
                1, time: MediaTime(value: 10, timescale: 1), atHostTime: bench.player.sourceClock.now + half)
            try await bench.pass(.milliseconds(400))
            #expect(bench.time == 10)
            try await bench.pass(.milliseconds(600))
            #expect(abs(bench.time - 10.5) < 0.001)
            try Self.check(bench.writer.frames[frames...], from: 250, "future")
        }
    }

    @Test("G12: steps move frame by frame while paused, both ways, within the loaded media")
    func steps() async throws {
        let bench = try VirtualBench()
        try bench.play { bench in
            try await bench.pass(.seconds(3))
            #expect(bench.item.canStepForward && bench.item.canStepBackward)
            bench.player.pause()
            #expect(try await bench.seek(8000))
            for (count, frame) in [(1, 201), (-2, 199), (26, 225), (-1, 224), (100_000, 224), (0, 224)] {
                bench.item.step(byCount: count)
                try await bench.pass(.milliseconds(10))
                #expect(bench.time == Double(frame) / 25)
                #expect(bench.writer.frames.last?.time == .milliseconds(40) * frame)
            }
            bench.player.play()
            try await bench.pass(.milliseconds(20))
            bench.item.step(byCount: 5)
            try await bench.pass(.milliseconds(10))
            #expect(bench.time < 9.1)
        }
    }

    @Test("F18: preroll decodes before time runs; a seek, rate or cancel ends it; it needs an idle item")
    func preroll() async throws {
        let bench = try VirtualBench()
        try bench.play { bench in
            await #expect(throws: HLSError.self) { try await bench.player.preroll(atRate: 1) }
            try await bench.pass(.seconds(3))
            await #expect(throws: HLSError.self) { try await bench.player.preroll(atRate: 1) }
            bench.player.pause()
            #expect(try await bench.player.preroll(atRate: 1))
            let frames = bench.writer.frames.count
            try await bench.pass(.seconds(1))
            #expect(bench.writer.frames.count == frames)
            let seek = Task(executorPreference: bench.clock) { try await bench.seek(30_000) }
            await Task.yield()
            #expect(try await bench.player.preroll(atRate: 1) == false)
            #expect(try await seek.value)
            bench.player.cancelPendingPrerolls()
        }
    }

    @Test("F18: a preroll of an unplayed item ends when its first frame is decoded")
    func firstPreroll() async throws {
        // The link is so slow that the item is ready before a whole segment is loaded.
        let bench = try VirtualBench(bitsPerSecond: 200_000)
        try bench.player.replaceCurrentItem(with: bench.item)
        try bench.clock.run {
            while bench.item.status == .unknown { try await bench.pass(.milliseconds(1)) }
            #expect(bench.player.state.statistics.numberOfDecodedVideoFrames == 0)
            #expect(try await bench.player.preroll(atRate: 1))
            #expect(bench.player.state.statistics.numberOfDecodedVideoFrames > 0)
            #expect(bench.writer.frames.map(\.time) == [.zero])
            #expect(bench.time == 0 && bench.player.timeControlStatus == .paused)
            await bench.player.close()
        }
    }

    @Test("G04: scrubbing pauses, shows the newest position exactly and restores the rate")
    func scrub() async throws {
        let bench = try VirtualBench()
        try bench.play { bench in
            try await bench.pass(.seconds(2))
            bench.player.rate = 1.5
            let session = ScrubSession(bench.player)
            #expect(bench.player.rate == 0)
            var scrubs: [Task<Bool, any Error>] = []
            for second in 5..<10 {
                scrubs.append(
                    Task(executorPreference: bench.clock) {
                        try await session.scrub(to: MediaTime(value: Int64(second), timescale: 1))
                    })
            }
            var outcomes: [Bool] = []
            for scrub in scrubs { outcomes.append(try await scrub.value) }
            #expect(outcomes == [false, false, false, false, true])
            #expect(bench.player.currentTime.seconds == 9)
            #expect(bench.writer.frames.last?.time == .seconds(9))
            session.end()
            #expect(bench.player.rate == 1.5)
            #expect(try await session.scrub(to: .zero) == false)
            session.end()
        }
    }

    @Test("G04: a scrub released without an end also restores the rate")
    func scrubReleased() async throws {
        let bench = try VirtualBench()
        try bench.play { bench in
            try await bench.pass(.seconds(2))
            bench.player.rate = 1.5
            do {
                let session = ScrubSession(bench.player)
                #expect(bench.player.rate == 0)
                _ = try await session.scrub(to: MediaTime(value: 5, timescale: 1))
            }
            #expect(bench.player.rate == 1.5)
        }
    }

    @Test("a variant pinned with a flush is shown two segments later, each frame once and without a pause")
    func pinnedWithFlush() async throws {
        let bench = try VirtualBench(quality: nil)
        let names = try await Asset(urlString: "file://\(SampleMedia.folder)/master.m3u8").load(.variants).map(\.id)
        bench.item.variantPolicy = .pinned(names[0])
        try bench.play { bench in
            try await bench.pass(.seconds(9))
            let events = bench.player.events()
            bench.item.variantPolicy = .pinned(names[2], flush: true)
            for await event in events {
                if case .timeControl(let change) = event.kind { #expect(change.new == .paused) }
                if event.isEnd { break }
            }
            #expect(bench.writer.frames.count == SampleMedia.frameCount)
            #expect(bench.writer.firstBreak == nil)
            let first = try #require(bench.writer.frames.first { $0.width == 960 })
            #expect(first.time > .seconds(9) && first.time <= .seconds(17))
            #expect(bench.player.state.statistics.numberOfStalls == 0)
        }
    }

    @Test("unpaced, a seek writes from its frame on after the earlier media")
    func unpaced() async throws {
        let writer = CapturingWriter([.video])
        let item = try PlayerItem("file://\(SampleMedia.folder)/master.m3u8", quality: "180p", to: writer)
        // Delays the playlists until the seek is known. Otherwise media might be written first.
        let held = HeldWork()
        held.hold()
        var configuration = PlayerConfiguration.unpaced()
        configuration.workQueue = held.queue
        let player = Player(configuration: configuration)
        let events = player.events()
        try player.replaceCurrentItem(with: item)
        let seek = Task {
            try await player.seek(
                to: MediaTime(value: 30_020, timescale: 1000), toleranceBefore: .zero, toleranceAfter: .zero)
        }
        while !player.core.read({ $0.machine.isSeekPending }) { await Task.yield() }
        player.play()
        held.release()
        for await event in events where event.isEnd { break }
        #expect(try await seek.value)
        await player.close()
        try Self.check(writer.frames[...], from: 750, "unpaced")
        #expect(writer.frames.count == 250)
    }
}
