import HLSKitCodec
import HLSKitEngine
import HLSKitLoading
import HLSKitOutput
import HLSKitPlayback
import HLSKitSimulation
import HLSKitTime
import TestSupport
import Testing

@Suite("Audio outputs", .timeLimit(.minutes(10)))
struct AudioOutputTests {
    private static func play(
        _ output: AudioOutput, end: Duration = .seconds(8), rate: Float = 1,
        step: (VirtualSample, Duration) throws -> Void = { _, _ in }
    ) throws -> (sample: VirtualSample, buffers: Recorder<AudioOutput.Buffer>) {
        let sample = try VirtualSample(end: end)
        sample.player.defaultRate = rate
        try sample.item.add(output)
        let buffers = Recorder<AudioOutput.Buffer>()
        sample.record(output.buffers(), in: buffers)
        try sample.play { try step(sample, $0) }
        return (sample, buffers)
    }

    private static func floats(_ buffers: Recorder<AudioOutput.Buffer>) -> [Float] {
        buffers.elements.flatMap { buffer -> [Float] in
            if case .float32(let samples) = buffer.samples { samples } else { [] }
        }
    }

    /// Checks that each buffer starts where the previous one ends, both in item time and in host time.
    private static func expectContinuous(_ buffers: [AudioOutput.Buffer], tolerance: Duration = .milliseconds(2)) {
        for (one, next) in zip(buffers, buffers.dropFirst()) {
            let gap = (next.itemTimeRange.start - one.itemTimeRange.end).duration ?? .seconds(1)
            #expect(abs(gap) < .milliseconds(1), "\(gap) at \(next.itemTimeRange.start.seconds)")
            let pause = next.hostTime - one.hostTime - one.duration
            #expect(abs(pause) < tolerance, "\(pause) at \(next.itemTimeRange.start.seconds)")
        }
    }

    @Test("J05: audio arrives complete, with its times, when the timebase reaches it")
    func delivery() throws {
        let (sample, buffers) = try Self.play(AudioOutput())
        let epoch = try #require(sample.epoch)
        Self.expectContinuous(buffers.elements)
        for (buffer, time) in zip(buffers.elements, buffers.times) {
            let start = try #require(buffer.itemTimeRange.start.duration)
            #expect(abs(buffer.hostTime.offset - epoch - start) < .microseconds(10))
            // Audio from before the start of the item arrives when playback starts.
            #expect(abs(time - max(buffer.hostTime.offset, epoch)) < .milliseconds(1))
        }
        let frameCount = buffers.elements.reduce(0) { $0 + $1.frameCount }
        let rate = try #require(buffers.elements.first?.sampleRate)
        #expect(abs(Double(frameCount) / Double(rate) - 8) < 0.05)
    }

    static let formatCases = [
        AudioOutput.Format(), AudioOutput.Format(sampleFormat: .int16),
        AudioOutput.Format(sampleFormat: .int16, sampleRate: 44_100, channelCount: 1),
        AudioOutput.Format(sampleRate: 16_000), AudioOutput.Format(channelCount: 6),
    ]

    @Test("J05: audio is converted to the requested format", arguments: formatCases)
    func formats(_ format: AudioOutput.Format) throws {
        let (_, buffers) = try Self.play(AudioOutput(format: format), end: .seconds(4))
        let first = try #require(buffers.elements.first)
        #expect(first.sampleRate == format.sampleRate ?? 48_000)
        #expect(first.channelCount == format.channelCount ?? 2)
        for buffer in buffers.elements {
            let size = format.sampleFormat == .int16 ? 2 : 4
            #expect(buffer.bytes.count == buffer.frameCount * first.channelCount * size)
        }
        let frameCount = buffers.elements.reduce(0) { $0 + $1.frameCount }
        #expect(abs(Double(frameCount) / Double(first.sampleRate) - 4) < 0.05)
        Self.expectContinuous(buffers.elements, tolerance: .milliseconds(3))
    }

    @Test("J05: volume and mute fade an output's audio within milliseconds, and do not affect writers")
    func volume() throws {
        let (_, plain) = try Self.play(AudioOutput(), end: .seconds(4))
        let (sample, changed) = try Self.play(AudioOutput(), end: .seconds(4)) { sample, time in
            if time == .seconds(1) { sample.player.volume = 0.25 }
            if time == .seconds(2) { sample.player.isMuted = true }
            if time == .seconds(3) {
                #expect(sample.player.volume == 0.25, "mute leaves the volume alone")
                sample.player.isMuted = false
                sample.player.volume = 7
            }
        }
        #expect(sample.player.volume == 1)
        let (original, result) = (Self.floats(plain), Self.floats(changed))
        #expect(original.count == result.count)
        let epoch = try #require(sample.epoch)
        func ratio(_ seconds: Double) -> Float {
            let start = Int((seconds - epoch.seconds) * 48_000) * 2
            let range = start..<start + 9600
            let loudness: ([Float]) -> Float = { $0[range].reduce(0) { $0 + abs($1) } }
            return loudness(result) / loudness(original)
        }
        #expect(abs(ratio(0.5) - 1) < 0.001)
        #expect(abs(ratio(1.5) - 0.25) < 0.001)
        #expect(ratio(2.5) == 0)
        #expect(abs(ratio(3.5) - 1) < 0.001)
        func steepest(_ samples: [Float]) -> Float {
            zip(samples, samples.dropFirst(2)).map { abs($1 - $0) }.max() ?? 0
        }
        #expect(steepest(result) <= steepest(original) * 1.01 + 0.01)
    }

    @Test(
        "G08: at rate r an output's audio takes 1/r of its time, in sync with the frames",
        arguments: [0.5, 1.5, 2])
    func rates(_ rate: Double) throws {
        let output = AudioOutput()
        let videoFrames = VideoOutput()
        let sample = try VirtualSample(end: .seconds(12))
        sample.player.defaultRate = Float(rate)
        try sample.item.add(output)
        try sample.item.add(videoFrames)
        let (buffers, frames) = (Recorder<AudioOutput.Buffer>(), Recorder<VideoFrame>())
        sample.record(output.buffers(), in: buffers)
        sample.record(videoFrames.frames(), in: frames)
        try sample.play()
        Self.expectContinuous(buffers.elements, tolerance: .milliseconds(5))
        let frameCount = buffers.elements.reduce(0) { $0 + $1.frameCount }
        #expect(abs(Double(frameCount) / 48_000 - 12 / rate) < 0.08, "\(Double(frameCount) / 48_000)")
        // The audio position that a listener hears with each frame, if the buffers are played without gaps.
        let began = try #require(buffers.elements.first?.hostTime.offset)
        var heard: [(host: Duration, item: Duration)] = []
        var position = began
        for buffer in buffers.elements {
            heard.append((position, try #require(buffer.itemTimeRange.start.duration)))
            position += buffer.duration
        }
        var worst = Duration.zero
        for (frame, time) in zip(frames.elements, frames.times) {
            guard let last = heard.last(where: { $0.host <= time }), time < position else { continue }
            let audio = last.item + (time - last.host) * rate
            worst = max(worst, abs(audio - (try #require(frame.itemTime?.duration))))
        }
        #expect(worst < .milliseconds(20))
        #expect(sample.player.state.statistics.numberOfDroppedVideoFrames == 0)
    }

    @Test("G08: a rate change applies at once, without a gap in the audio")
    func changingRate() throws {
        let output = AudioOutput()
        let (sample, buffers) = try Self.play(output, end: .seconds(12)) { sample, time in
            if time == .seconds(2) { sample.player.rate = 1.5 }
            if time == .seconds(4) { sample.player.rate = 0.75 }
            if time == .seconds(6) { sample.player.rate = 1 }
        }
        Self.expectContinuous(buffers.elements, tolerance: .milliseconds(22))
        let frameCount = buffers.elements.reduce(0) { $0 + $1.frameCount }
        let last = try #require(buffers.elements.last)
        let first = try #require(buffers.elements.first)
        // After all rate changes, the audio still matches the timebase.
        let span = last.hostTime - first.hostTime + last.duration
        #expect(abs(Double(frameCount) / 48_000 - span.seconds) < 0.03)
        #expect(sample.timeControlChanges.count(where: { $0.new == .playing }) == 1)
    }

    @Test("J05: if buffers are not read, the newest are kept")
    func nobodyAsks() throws {
        let output = AudioOutput()
        var taken: [AudioOutput.Buffer] = []
        let (_, buffers) = try Self.play(output, end: .seconds(4)) { _, time in
            guard time == .seconds(3) else { return }
            while let buffer = output.copyNextBuffer() { taken.append(buffer) }
        }
        #expect(taken.count == AudioOutput.maximumBufferCount)
        #expect(buffers.elements.count > 150)
        Self.expectContinuous(taken)
        #expect(output.copyNextBuffer() == nil, "the end of the item lets go of what was not taken")
    }
}
