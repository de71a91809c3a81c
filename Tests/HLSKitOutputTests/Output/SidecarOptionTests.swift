import HLSKitCaptions
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

@Suite("Sidecar captions as an option", .timeLimit(.minutes(10)))
struct SidecarOptionTests {
    private static func caption(_ text: String, _ range: ClosedRange<Double>) -> Caption {
        let start = MediaTime(seconds: range.lowerBound, preferredTimescale: 1000)
        let end = MediaTime(seconds: range.upperBound, preferredTimescale: 1000)
        return Caption(text, timeRange: MediaTimeRange(start: start, duration: end - start))
    }

    private static let captions = SidecarCaptions(
        [caption("second", 5...6.5), caption("first", 1...3), caption("over it", 2...4)], name: "Datei", language: "de")
    private static let texts = ["first", "over it", "second"]

    private static func option(_ item: PlayerItem) -> (MediaSelectionOption, MediaSelectionGroup)? {
        guard let group = item.mediaSelectionGroup(for: .legible),
            let option = group.options.first(where: { $0.displayName == "Datei" })
        else { return nil }
        return (option, group)
    }

    @Test("K05: sidecar captions are an option after the stream's, selected by the same preferences")
    func preference() throws {
        let sample = try VirtualSample(
            end: .seconds(8), prefer: { $0.subtitles = try? QualityExpression(parsing: "lang=de", for: .renditions) })
        sample.item.sidecarCaptions = [Self.captions]
        let output = LegibleOutput()
        try sample.item.add(output)
        let deliveries = Recorder<LegibleOutput.Delivery>()
        sample.record(output.cues(), in: deliveries)
        var group: MediaSelectionGroup?
        try sample.play { _ in group = sample.item.mediaSelectionGroup(for: .legible) ?? group }
        #expect(group?.options.last?.displayName == "Datei")
        #expect((group?.options.count ?? 0) > 1, "the stream has subtitles of its own")
        #expect(group?.options.last.map { $0.isPlayable && !$0.isClosedCaptions && $0.mediaType == .text } == true)
        #expect(sample.reportedCues.map(\.text) == Self.texts)
        #expect(sample.reportedCues.allSatisfy { $0.language == "de" })
        let epoch = try #require(sample.epoch)
        for (delivery, time) in zip(deliveries.elements, deliveries.times) {
            let due = try #require(delivery.itemTime.duration)
            #expect(abs(time - epoch - due) < .milliseconds(1))
        }
    }

    @Test("K05: sidecar captions can be selected during playback, without past cues, and deselected")
    func whilePlaying() throws {
        let sample = try VirtualSample(end: .seconds(8))
        sample.item.sidecarCaptions = [Self.captions]
        var step = 0
        try sample.play { time in
            guard let epoch = sample.epoch, let (option, group) = Self.option(sample.item) else { return }
            switch (step, time - epoch) {
            case (0, .milliseconds(3500)...):
                #expect(sample.item.currentMediaSelection[.legible] == nil)
                #expect(sample.item.select(option, in: group))
            case (1, .milliseconds(4500)...):
                let other = SidecarCaptions([Self.caption("another", 5...7)], name: "Datei", language: "de")
                sample.item.sidecarCaptions = [other]
            case (2, .milliseconds(5500)...): #expect(sample.item.select(nil, in: group))
            case (3, .milliseconds(6000)...): sample.item.sidecarCaptions = [Self.captions]
            default: return
            }
            step += 1
        }
        #expect(step == 4)
        #expect(sample.reportedCues.map(\.text) == ["over it", "another"])
        #expect(sample.player.state.statistics.numberOfStalls == 0)
    }

    @Test("K05: after a seek, forward or back, they match the new position")
    func seeks() throws {
        let sample = try VirtualSample(
            end: .seconds(8), prefer: { $0.subtitles = try? QualityExpression(parsing: "lang=de", for: .renditions) })
        sample.item.sidecarCaptions = [Self.captions]
        var targets: [(at: Duration, to: Double)] = [(.milliseconds(1500), 4.5), (.milliseconds(2500), 1.5)]
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
        #expect(sample.reportedCues.map(\.text) == ["first", "second", "first", "over it", "second"])
    }

    @Test("K05: a stream with only a media playlist also offers them")
    func mediaPlaylist() throws {
        let sample = try VirtualSample(end: .seconds(8), quality: nil, path: "video-180p.m3u8")
        sample.item.sidecarCaptions = [Self.captions]
        var isSelected = false
        try sample.play { _ in
            guard !isSelected, let (option, group) = Self.option(sample.item) else { return }
            isSelected = sample.item.select(option, in: group)
        }
        #expect(sample.reportedCues.map(\.text) == Self.texts)
    }

    @Test("K05: two sidecars with the same name and language are one option")
    func same() {
        let other = SidecarCaptions([], name: "Datei", language: "de")
        let options = SidecarOptions([Self.captions, other, SidecarCaptions([], name: "Datei", language: "fr")])
        #expect(options.options.count == 2)
        #expect(options.captions(of: options.options.first) == Self.captions)
        #expect(options.captions(of: nil) == nil)
    }

    @Test("K05: captions are given once, from the position on, and again after a jump")
    func given() {
        var cues = CuePresenter.SidecarCues()
        func texts(_ selected: SidecarCaptions?, at seconds: Double) -> [String] {
            cues.take(selected, at: .seconds(seconds)).map(\.text)
        }
        #expect(texts(nil, at: 0).isEmpty)
        #expect(texts(Self.captions, at: 3) == ["over it", "second"])
        #expect(texts(Self.captions, at: 3).isEmpty)
        #expect(cues.isGiven && !cues.isReplaced(by: Self.captions) && cues.isReplaced(by: nil))
        cues.forget(from: .seconds(2))
        #expect(texts(Self.captions, at: 9) == Self.texts, "from where the jump leads, whatever the time is meanwhile")
    }
}
