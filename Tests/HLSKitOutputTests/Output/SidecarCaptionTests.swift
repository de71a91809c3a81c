import HLSKitCaptions
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

@Suite("Captions from a sidecar file", .timeLimit(.minutes(10)))
struct SidecarCaptionTests {
    private static let file = """
        1
        00:00:05,000 --> 00:00:06,500
        second

        2
        00:00:01,000 --> 00:00:03,000
        <i>first</i>

        3
        00:00:02,000 --> 00:00:04,000
        over it

        """

    private static func output(_ advance: Duration = .zero) throws -> LegibleOutput {
        let content = try CaptionFileReader(format: .subRip).read(Array(file.utf8))
        return LegibleOutput(captions: content.captions, language: "de", advanceInterval: advance)
    }

    private static func lines(_ deliveries: [LegibleOutput.Delivery]) -> [String] {
        deliveries.map { "\($0.itemTime.seconds) \($0.cues.map(\.text).joined(separator: "|"))" }
    }

    private static let expected = ["1.0 first", "2.0 first|over it", "3.0 over it", "4.0 ", "5.0 second", "6.5 "]

    @Test("K02: WebVTT is provided as samples on request, and other captions still as cues")
    func nativeSamples() throws {
        let subtitles = try VirtualSample(
            end: .seconds(5),
            prefer: { $0.subtitles = try? QualityExpression(parsing: "lang=en", for: .renditions) })
        let closed = try VirtualSample(
            quality: nil, path: "pictures.m3u8", files: CaptionStream.frames(),
            prefer: { $0.subtitles = try? QualityExpression(parsing: "best", for: .renditions) })
        for (sample, isNative) in [(subtitles, true), (closed, false)] {
            let (native, plain) = (LegibleOutput(nativeRepresentations: [.webVTT]), LegibleOutput())
            let (samples, cues) = (Recorder<LegibleOutput.Delivery>(), Recorder<LegibleOutput.Delivery>())
            for (output, recorder) in [(native, samples), (plain, cues)] {
                try sample.item.add(output)
                sample.record(output.cues(), in: recorder)
            }
            var hasSelected = false
            try sample.play { _ in
                guard !isNative, !hasSelected, let group = sample.item.mediaSelectionGroup(for: .legible),
                    let option = group.options.first
                else { return }
                hasSelected = sample.item.select(option, in: group)
            }
            #expect(!cues.elements.isEmpty)
            #expect(samples.elements.map(\.itemTime) == cues.elements.map(\.itemTime))
            #expect(cues.elements.allSatisfy { $0.nativeSample == nil })
            for (found, expected) in zip(samples.elements, cues.elements) {
                let bytes = try #require(found.nativeSample)
                let inSample = try WebVTTSample(parsing: bytes[...], start: .zero, end: .zero).cues
                #expect(inSample.map(\.payload) == (isNative ? expected.cues.map(\.payload) : []))
                #expect(found.cues == (isNative ? [] : expected.cues))
            }
        }
    }

    @Test("K05: sidecar captions are shown by the timebase, whatever subtitles the stream has")
    func plays() throws {
        let sample = try VirtualSample(
            end: .seconds(8),
            prefer: { $0.subtitles = try? QualityExpression(parsing: "lang=en", for: .renditions) })
        let (output, early, own) = (try Self.output(), try Self.output(.milliseconds(400)), LegibleOutput())
        for output in [output, early, own] { try sample.item.add(output) }
        let (deliveries, ahead) = (Recorder<LegibleOutput.Delivery>(), Recorder<LegibleOutput.Delivery>())
        let others = Recorder<LegibleOutput.Delivery>()
        sample.record(output.cues(), in: deliveries)
        sample.record(early.cues(), in: ahead)
        sample.record(own.cues(), in: others)
        try sample.play()
        let epoch = try #require(sample.epoch)
        #expect(Self.lines(deliveries.elements) == Self.expected)
        #expect(Self.lines(ahead.elements) == Self.expected)
        for (recorder, advance) in [(deliveries, Duration.zero), (ahead, .milliseconds(400))] {
            for (delivery, time) in zip(recorder.elements, recorder.times) {
                let due = try #require(delivery.itemTime.duration) - advance
                #expect(abs(time - epoch - due) < .milliseconds(1))
            }
        }
        let first = try #require(deliveries.elements.first?.cues.first)
        #expect(first.language == "de" && first.caption.style(at: 0).style.fontStyle == .italic)
        #expect(first.payload == "<i>first</i>")
        #expect(!others.elements.isEmpty)
        #expect(others.elements.allSatisfy { $0.cues.allSatisfy { $0.text.hasPrefix("frames") } })
    }

    @Test("K05: after a seek, forward or back, sidecar captions match the new position")
    func seeks() throws {
        let sample = try VirtualSample(end: .seconds(8))
        let output = try Self.output()
        try sample.item.add(output)
        let deliveries = Recorder<LegibleOutput.Delivery>()
        sample.record(output.cues(), in: deliveries)
        var targets: [(at: Duration, to: Double)] = [(.milliseconds(1500), 5.5), (.milliseconds(2000), 2.5)]
        try sample.play { time in
            guard let epoch = sample.epoch, let target = targets.first, time - epoch >= target.at else { return }
            targets.removeFirst()
            let player = sample.player
            Task(executorPreference: sample.clock) {
                let time = MediaTime(seconds: target.to, preferredTimescale: 1000)
                _ = try? await player.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero)
            }
        }
        #expect(targets.isEmpty)
        #expect(
            deliveries.elements.map { $0.cues.map(\.text).joined(separator: "|") }
                == ["first", "", "second", "", "first|over it", "over it", "", "second", ""])
    }

    @Test("K05: captions without a time are dropped; captions without an end stay")
    func odd() throws {
        let start = MediaTime(value: 1, timescale: 1)
        let output = LegibleOutput(captions: [
            Caption("never", timeRange: MediaTimeRange(start: .invalid, duration: start)),
            Caption("empty", timeRange: MediaTimeRange(start: start, duration: .zero)),
            Caption("stays", timeRange: MediaTimeRange(start: start, duration: .positiveInfinity)),
        ])
        #expect(output.currentCues(at: MediaTime(value: 4000, timescale: 1)).map(\.text) == ["stays"])
        #expect(output.currentCues(at: start).map(\.text) == ["stays"])
        #expect(output.currentCues(at: .zero).isEmpty)
    }
}
