import HLSKitCodec
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitPlayback
import HLSKitSelection
import HLSKitSimulation
import HLSKitTime
import TestSupport
import Testing

@Suite("Slow readers of outputs", .timeLimit(.minutes(10)))
struct SlowReaderTests {
    private static func read<Elements: AsyncSequence & Sendable>(
        _ elements: Elements, every pause: Duration, on clock: VirtualClock
    ) -> Recorder<Elements.Element> where Elements.Element: Sendable {
        let recorder = Recorder<Elements.Element>()
        Task(executorPreference: clock) {
            for try await element in elements {
                recorder.append(element, at: clock.now.offset)
                try await clock.sleep(for: pause)
            }
        }
        return recorder
    }

    private static func unpaced(end: Duration) throws -> VirtualSample {
        try VirtualSample(end: end) { $0.pacing = .unpaced }
    }

    @Test("unpaced, decoding waits for readers of frames: each gets all", arguments: [2, 70])
    func frames(milliseconds: Int) throws {
        let sample = try Self.unpaced(end: .seconds(8))
        let output = VideoOutput()
        try sample.item.add(output)
        let slow = Self.read(output.frames(), every: .milliseconds(milliseconds), on: sample.clock)
        let fast = Self.read(output.frames(), every: .microseconds(10), on: sample.clock)
        try sample.play()
        sample.clock.advance(by: .seconds(10))
        let expected = Array(try SampleMedia.frameHashes(of: "180p").prefix(200))
        #expect(try slow.elements.map { try $0.hash } == expected)
        #expect(try fast.elements.map { try $0.hash } == expected)
        #expect(output.numberOfLostFrames == 0)
        #expect(sample.player.state.statistics.numberOfUnreadVideoFrames == 0)
    }

    @Test("unpaced, decoding waits for converted audio's readers, with equally slow frame readers")
    func audio() throws {
        let sample = try Self.unpaced(end: .seconds(8))
        let output = AudioOutput(format: .init(sampleFormat: .int16, sampleRate: 16_000, channelCount: 1))
        let videoFrames = VideoOutput()
        try sample.item.add(output)
        try sample.item.add(videoFrames)
        let buffers = Self.read(output.buffers(), every: .milliseconds(40), on: sample.clock)
        let frames = Self.read(videoFrames.frames(), every: .milliseconds(40), on: sample.clock)
        try sample.play()
        sample.clock.advance(by: .seconds(20))
        #expect(frames.elements.count == 200)
        let frameCount = buffers.elements.reduce(0) { $0 + $1.frameCount }
        #expect(abs(frameCount - 16_000 * 8) < 800, "\(frameCount)")
        for (one, next) in zip(buffers.elements, buffers.elements.dropFirst()) {
            let gap = (next.itemTimeRange.start - one.itemTimeRange.end).duration ?? .seconds(1)
            #expect(abs(gap) < .milliseconds(1))
        }
        #expect(output.numberOfLostBuffers == 0)
    }

    @Test("unpaced, composed frames and compressed samples also wait for their readers")
    func others() throws {
        let sample = try Self.unpaced(end: .seconds(4))
        let composition = CompositionOutput(
            FrameComposition(sourceSampleDataTrackIDs: [], instructions: []) { $0.sourceFrame }, clock: sample.clock)
        let samples = SampleOutput(mediaTypes: [.video])
        try sample.item.add(composition)
        try sample.item.add(samples)
        let frames = Self.read(composition.frames(), every: .milliseconds(90), on: sample.clock)
        let units = Self.read(samples.samples(), every: .milliseconds(50), on: sample.clock)
        try sample.play()
        sample.clock.advance(by: .seconds(20))
        #expect(frames.elements.count == 100)
        #expect(units.elements.count >= 100)
        #expect(composition.numberOfLostFrames + samples.numberOfLostSamples == 0)
    }

    @Test("paced, time does not wait: a slow reader's losses are counted and reported")
    func paced() throws {
        let sample = try VirtualSample(end: .seconds(20))
        let output = VideoOutput()
        try sample.item.add(output)
        let frames = Self.read(output.frames(), every: .milliseconds(100), on: sample.clock)
        try sample.play()
        sample.clock.advance(by: .seconds(2))
        let lost = 500 - frames.elements.count
        #expect(lost > 250)
        #expect(output.numberOfLostFrames == lost)
        #expect(sample.player.state.statistics.numberOfDroppedVideoFrames == 0, "the player was in time")
        let reported = sample.events.elements.compactMap { event -> Int? in
            guard case .mediaUnread(.video, let count) = event.kind else { return nil }
            return count
        }
        #expect(reported.count >= 2 && reported.count <= 3, "\(reported)")
        #expect(reported.reduce(0, +) <= lost)
    }

    @Test("a reader that keeps up loses nothing and causes no report")
    func inTime() throws {
        let sample = try VirtualSample(end: .seconds(4))
        let output = VideoOutput()
        try sample.item.add(output)
        let frames = Self.read(output.frames(), every: .milliseconds(30), on: sample.clock)
        try sample.play()
        #expect(frames.elements.count == 100)
        #expect(output.numberOfLostFrames == 0)
        #expect(!sample.events.elements.contains { if case .mediaUnread = $0.kind { true } else { false } })
    }

    @Test("a player with an idle reader closes, and a reader that seeks from its loop continues")
    func ways() throws {
        let stuck = try Self.unpaced(end: .seconds(8))
        let output = VideoOutput()
        try stuck.item.add(output)
        let unread = output.frames()
        stuck.player.play()
        try stuck.player.replaceCurrentItem(with: stuck.item)
        stuck.clock.advance(by: .seconds(5))
        let player = stuck.player
        try stuck.clock.run { await player.close() }
        _ = unread

        let sample = try Self.unpaced(end: .seconds(20))
        let videoFrames = VideoOutput()
        try sample.item.add(videoFrames)
        let (other, clock, frames) = (sample.player, sample.clock, videoFrames.frames())
        let recorder = Recorder<VideoFrame>()
        Task(executorPreference: clock) {
            for await frame in frames {
                recorder.append(frame, at: clock.now.offset)
                if recorder.elements.count == 10 {
                    let place = MediaTime(value: 12, timescale: 1)
                    _ = try? await other.seek(to: place, toleranceBefore: .zero, toleranceAfter: .zero)
                }
            }
        }
        try sample.play()
        let times = recorder.elements.compactMap(\.itemTime?.seconds)
        #expect(times.prefix(10).allSatisfy { $0 < 0.5 })
        #expect(times.dropFirst(10).first == 12)
        #expect(times.count == 210)
    }
}
