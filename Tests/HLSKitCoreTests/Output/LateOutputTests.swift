import HLSKitCodec
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitSimulation
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitPlayback

@Suite("Late outputs", .timeLimit(.minutes(10)))
struct LateOutputTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var isTransportStream = false
        var hasAudio = false
        var isPaused = false
        var time: Int
        var forwardBuffer = 12
    }

    static let cases = [
        Case(testDescription: "a monitor", time: 3),
        Case(testDescription: "a monitor, muxed", isTransportStream: true, time: 3),
        Case(testDescription: "all is loaded", time: 9, forwardBuffer: 60),
        Case(testDescription: "all is loaded, muxed", isTransportStream: true, time: 9, forwardBuffer: 60),
        Case(testDescription: "beside sound in the same segments", isTransportStream: true, hasAudio: true, time: 5),
        Case(
            testDescription: "beside sound, all is loaded", isTransportStream: true, hasAudio: true, time: 9,
            forwardBuffer: 60),
        Case(testDescription: "paused", hasAudio: true, isPaused: true, time: 5),
    ]

    private static func bench(_ test: Case) throws -> VirtualBench {
        let change: (inout PlayerConfiguration) -> Void = {
            $0.buffering.forwardDuration = .seconds(test.forwardBuffer)
        }
        let bench =
            test.isTransportStream
            ? try VirtualBench("ts.m3u8", quality: nil, files: SampleTransportStream().files(), change: change)
            : try VirtualBench(change: change)
        bench.item.remove(bench.writer)
        return bench
    }

    @Test("an output added late gets the current frame at once, and the others lose nothing", arguments: cases)
    func frame(_ test: Case) throws {
        let bench = try Self.bench(test)
        let (audio, videoFrames) = (CapturingWriter([.audio]), Recorder<VideoFrame>())
        if test.hasAudio { bench.item.add(audio) }
        let statuses = Recorder<TimeControlChange>()
        let events = bench.player.events()
        try bench.play { bench in
            let reader = Task(executorPreference: bench.clock) {
                for await event in events {
                    if case .timeControl(let change) = event.kind {
                        statuses.append(change, at: bench.clock.now.offset)
                    }
                }
            }
            try await bench.pass(.seconds(test.time))
            if test.isPaused { bench.player.pause() }
            let count = statuses.elements.count
            let output = VideoOutput()
            let frames = output.frames()
            let (host, time) = (bench.clock.now.offset, bench.player.state.currentTime.seconds)
            try bench.item.add(output)
            let taker = Task(executorPreference: bench.clock) {
                for await frame in frames { videoFrames.append(frame, at: bench.clock.now.offset) }
            }
            try await bench.pass(.milliseconds(200))
            let first = try #require(videoFrames.elements.first?.itemTime?.seconds)
            #expect(first <= time && first > time - 0.041)
            #expect(try #require(videoFrames.times.first) - host <= .milliseconds(200))
            if test.isPaused {
                #expect(videoFrames.elements.count == 1)
                bench.player.play()
            }
            try await bench.pass(.seconds(45))
            #expect(statuses.elements.count <= count + (test.isPaused ? 3 : 1))
            #expect(bench.player.state.statistics.numberOfStalls == 0)
            await bench.player.close()
            await taker.value
            await reader.value
        }
        let hashes = try SampleMedia.frameHashes(of: "180p")
        let indices = videoFrames.elements.compactMap { $0.itemTime.map { Int(($0.seconds * 25).rounded()) } }
        #expect(indices.last == SampleMedia.frameCount - 1)
        #expect(zip(indices, indices.dropFirst()).allSatisfy { $0 < $1 && $1 - $0 < 8 })
        #expect(zip(indices.dropFirst(8), indices.dropFirst(9)).allSatisfy { $1 == $0 + 1 })
        for (frame, index) in zip(videoFrames.elements, indices) where hashes.indices.contains(index) {
            #expect(try frame.hash == hashes[index])
        }
        guard test.hasAudio else { return }
        #expect(audio.largestAudioGap < .milliseconds(1))
        let last = try #require(audio.sounds.last)
        #expect(last.time + last.length > .milliseconds(39_900))
    }

    @Test("after a seek back to before it was added, a late output also gets frames")
    func seekBack() throws {
        let bench = try Self.bench(Case(testDescription: "", hasAudio: true, time: 0, forwardBuffer: 60))
        let writer = CapturingWriter([.video])
        bench.item.add(CapturingWriter([.audio]))
        try bench.play { bench in
            try await bench.pass(.seconds(12))
            bench.item.add(writer)
            try await bench.pass(.seconds(3))
            for target in [4000, 30_000] {
                let count = writer.frames.count
                #expect(try await bench.seek(target))
                try await bench.pass(.seconds(1))
                #expect(writer.frames[count...].first.map { $0.time == .milliseconds(target) } == true)
                #expect(writer.frames.count > count + 20)
            }
        }
    }

    @Test("a snapshot of a live stream without earlier outputs is current")
    func live() throws {
        let bench = try VirtualBench(try VirtualLive())
        bench.item.remove(bench.writer)
        let videoFrames = Recorder<VideoFrame>()
        try bench.play { bench in
            try await bench.pass(.seconds(7))
            let output = VideoOutput()
            let frames = output.frames()
            try bench.item.add(output)
            let time = bench.player.state.currentTime.seconds
            let taker = Task(executorPreference: bench.clock) {
                for await frame in frames { videoFrames.append(frame, at: bench.clock.now.offset) }
            }
            try await bench.pass(.milliseconds(200))
            let first = try #require(videoFrames.elements.first?.itemTime?.seconds)
            #expect(abs(first - time) < 0.05)
            try await bench.pass(.seconds(6))
            #expect(videoFrames.elements.count > 140)
            await bench.player.close()
            await taker.value
        }
    }

    @Test("a second output added while time is stopped gets the shown frame")
    func welcome() throws {
        let bench = try VirtualBench()
        try bench.play { bench in
            try await bench.pass(.seconds(3))
            bench.player.pause()
            let output = VideoOutput()
            try bench.item.add(output)
            try await bench.pass(.milliseconds(100))
            #expect(output.isReadyForDisplay)
            #expect(try output.copyFrame(for: bench.player.state.currentTime) != nil)
        }
    }

    @Test("the late kinds are those not taken before")
    func lateTaking() {
        var late = MediaDemand.LateSubscribers()
        late.begin(.main, [.audio])
        let new = late.follow([.audio, .video], of: .main, isTooLate: true)
        #expect(new.kinds == [.video])
        #expect(new.isBesideOthers)
        #expect(late.wanted([.audio, .video, .metadata], of: .main) == [.audio, .metadata])
        #expect(late.follow([.audio, .video], of: .main, isTooLate: true).kinds.isEmpty)
        late.take([.video], of: .main)
        #expect(late.wanted([.audio, .video], of: .main) == [.audio, .video])
        #expect(late.follow([.audio], of: .main, isTooLate: true).kinds.isEmpty)
        #expect(late.follow([.audio, .video], of: .main, isTooLate: true).kinds == [.video])
    }
}
