import HLSKitCaptions
import HLSKitEngine
import HLSKitLoading
import HLSKitOutput
import HLSKitPlayback
import HLSKitSelection
import HLSKitSimulation
import HLSKitTime
import TestSupport
import Testing

@Suite("Closed captions of the player", .timeLimit(.minutes(10)))
struct ClosedCaptionOptionTests {
    private static let renditions = [
        #"TYPE=CLOSED-CAPTIONS,GROUP-ID="cc",NAME="English",LANGUAGE="en",AUTOSELECT=YES,INSTREAM-ID="CC1",CHARACTERISTICS="public.accessibility.transcribes-spoken-dialog""#,
        #"TYPE=CLOSED-CAPTIONS,GROUP-ID="cc",NAME="Deutsch",LANGUAGE="de",AUTOSELECT=YES,INSTREAM-ID="CC3""#,
        #"TYPE=CLOSED-CAPTIONS,GROUP-ID="cc",NAME="Digital",LANGUAGE="en-US",INSTREAM-ID="SERVICE1""#,
        #"TYPE=CLOSED-CAPTIONS,GROUP-ID="cc",NAME="Odd",LANGUAGE="fr",AUTOSELECT=YES,INSTREAM-ID="CC9""#,
    ]
    private static let group = #",CLOSED-CAPTIONS="cc""#
    /// The captions that the script of the fixture adds, with times in frames of 1/25 s.
    private static let english = ["0.8-2.4 Good day", "3.48-5.2 How are you?", "5.92-7.96 Bye"]
    private static let german = ["1.24-4.0 Guten Tag"]
    private static let digital = ["1.24-3.6 Digital day"]

    private static func lines(_ cues: [LegibleCue]) -> [String] {
        cues.map { "\($0.timeRange.start.seconds)-\($0.timeRange.end.seconds) \($0.text)" }
    }

    private static func sample(
        main: [UInt8]? = nil, files: [String: [UInt8]]? = nil, path: String = "main.m3u8",
        prefer: (inout PlayerItemPreferences) -> Void = { _ in }
    ) throws -> VirtualSample {
        var files = try files ?? CaptionStream.frames()
        files["main.m3u8"] = main ?? CaptionStream.main(renditions, attributes: group)
        return try VirtualSample(quality: nil, path: path, files: files, prefer: prefer)
    }

    private static func option(_ name: String, of item: PlayerItem) -> (MediaSelectionOption, MediaSelectionGroup)? {
        guard let group = item.mediaSelectionGroup(for: .legible),
            let option = group.options.first(where: { $0.displayName == name })
        else { return nil }
        return (option, group)
    }

    struct Source: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var option: String
        var expected: [String]
        var files: @Sendable () throws -> [String: [UInt8]] = { try CaptionStream.frames() }
        var name = "pictures"
    }

    @Test(
        "K03: a rendition with INSTREAM-ID plays as cues at its item times, with its language",
        arguments: [
            Source(testDescription: "CEA-608, first field", option: "English", expected: english),
            Source(testDescription: "CEA-608, second field", option: "Deutsch", expected: german),
            Source(testDescription: "CEA-708", option: "Digital", expected: digital),
            Source(
                testDescription: "CEA-608 in a transport stream", option: "English", expected: english,
                files: { try CaptionStream.transportStream() }),
            Source(
                testDescription: "a track c608 beside the pictures", option: "English", expected: english,
                files: { try CaptionStream.frames("c608") }, name: "c608"),
            Source(
                testDescription: "a track c708 beside the pictures", option: "Digital", expected: digital,
                files: { try CaptionStream.frames("c708") }, name: "c708"),
            Source(
                testDescription: "CEA-608 in a track c708", option: "Deutsch", expected: german,
                files: { try CaptionStream.frames("c708") }, name: "c708"),
            Source(
                testDescription: "CEA-608 in HEVC, first field", option: "English", expected: english,
                files: { try CaptionStream.frames("hevc") }, name: "hevc"),
            Source(
                testDescription: "CEA-608 in HEVC, second field", option: "Deutsch", expected: german,
                files: { try CaptionStream.frames("hevc") }, name: "hevc"),
            Source(
                testDescription: "CEA-708 in HEVC", option: "Digital", expected: digital,
                files: { try CaptionStream.frames("hevc") }, name: "hevc"),
            Source(
                testDescription: "CEA-608 in HEVC in a transport stream", option: "English",
                expected: [english[0], "3.48-4.12 How are you?"],
                files: { try CaptionStream.transportStream("hevc", duration: 4) }, name: "hevc"),
        ])
    func plays(_ source: Source) throws {
        let sample = try Self.sample(
            main: CaptionStream.main(Self.renditions, attributes: Self.group, of: source.name), files: source.files()
        ) {
            $0.subtitles = try? QualityExpression(parsing: "name=\(source.option)", for: .renditions)
        }
        let output = LegibleOutput()
        try sample.item.add(output)
        let deliveries = Recorder<LegibleOutput.Delivery>()
        sample.record(output.cues(), in: deliveries)
        try sample.play()
        #expect(Self.lines(sample.reportedCues) == source.expected)
        let language = ["English": "en", "Deutsch": "de", "Digital": "en-US"][source.option]
        #expect(sample.reportedCues.allSatisfy { $0.language == language })
        #expect(sample.reportedCues.allSatisfy { $0.caption.region != nil && $0.caption.text == $0.text })
        let epoch = try #require(sample.epoch)
        for (index, delivery) in deliveries.elements.enumerated() where !delivery.cues.isEmpty {
            let start = try #require(delivery.itemTime.duration)
            #expect(abs(deliveries.times[index] - epoch - start) < .milliseconds(1))
        }
        #expect(Self.lines(deliveries.elements.flatMap(\.cues)) == source.expected)
    }

    @Test("K03, I02: options have language and characteristics, and options with unknown channels are excluded")
    func options() throws {
        let sample = try Self.sample()
        try sample.item.add(LegibleOutput())
        var found: MediaSelectionGroup?
        var results: [Bool] = []
        try sample.play { time in
            guard found == nil, time > .seconds(1), let group = sample.item.mediaSelectionGroup(for: .legible) else {
                return
            }
            found = group
            results = group.options.map { sample.item.select($0, in: group) }
        }
        let group = try #require(found)
        #expect(group.options.map(\.displayName) == ["English", "Deutsch", "Digital", "Odd"])
        #expect(group.options.map(\.isPlayable) == [true, true, true, false])
        #expect(results == [true, true, true, false])
        #expect(group.options.allSatisfy { $0.isClosedCaptions })
        #expect(group.options[0].hasMediaCharacteristic(.transcribesSpokenDialogForAccessibility))
        #expect(Self.lines(sample.reportedCues).suffix(1) == Self.digital.suffix(1))
    }

    @Test("K03: captions can be selected and deselected during playback, at once and without a pause")
    func whilePlaying() throws {
        let sample = try Self.sample()
        let output = LegibleOutput()
        try sample.item.add(output)
        let deliveries = Recorder<LegibleOutput.Delivery>()
        sample.record(output.cues(), in: deliveries)
        var steps: [(at: Duration, option: String?)] = [
            (.seconds(2), "Deutsch"), (.milliseconds(3800), "English"), (.milliseconds(4500), nil),
        ]
        var done: [Duration] = []
        try sample.play { time in
            guard let epoch = sample.epoch, let step = steps.first, time - epoch >= step.at,
                let group = sample.item.mediaSelectionGroup(for: .legible)
            else { return }
            steps.removeFirst()
            done.append(sample.clock.now.offset)
            let option = step.option.flatMap { name in group.options.first { $0.displayName == name } }
            #expect(sample.item.select(option, in: group))
        }
        #expect(done.count == 3)
        #expect(sample.timeControlChanges.count { $0.new == .playing } == 1)
        #expect(sample.player.state.statistics.numberOfStalls == 0)
        #expect(Self.lines(sample.reportedCues) == Self.german + [Self.english[1]])
        // A caption selected while it is active appears at once, and another selection removes it at once.
        let shown = zip(deliveries.times, deliveries.elements).map { (time: $0, texts: $1.cues.map(\.text)) }
        #expect(shown.map(\.texts) == [["Guten Tag"], [], ["How are you?"], []])
        for (index, change) in [(0, 0), (1, 1), (2, 1), (3, 2)] {
            #expect(abs(shown[index].time - done[change]) < .milliseconds(20), "\(index)")
        }
    }

    @Test("K02: after a seek, forward or back, captions match the new position")
    func seeks() throws {
        let sample = try Self.sample {
            $0.subtitles = try? QualityExpression(parsing: "name=English", for: .renditions)
        }
        var targets: [(at: Duration, to: Double)] = [(.seconds(1), 5.95), (.milliseconds(1800), 1.0)]
        try sample.play { time in
            guard let epoch = sample.epoch, let target = targets.first, time - epoch >= target.at else { return }
            targets.removeFirst()
            let player = sample.player
            Task(executorPreference: sample.clock) {
                let time = MediaTime(seconds: target.to, preferredTimescale: 1000)
                _ = try? await player.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero)
            }
        }
        let reported = Self.lines(sample.reportedCues)
        #expect(reported == [Self.english[0], Self.english[2]] + Self.english)
    }

    struct Undeclared: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var path: String
        var attributes = ""
        var renditions: [String] = []
        var expected: [String]
    }

    @Test(
        "K03: undeclared captions become options when they appear, unless the playlist says NONE",
        arguments: [
            Undeclared(
                testDescription: "nothing is said", path: "main.m3u8", expected: ["CC1", "CC3", "SERVICE1"]),
            Undeclared(
                testDescription: "CLOSED-CAPTIONS=NONE", path: "main.m3u8", attributes: ",CLOSED-CAPTIONS=NONE",
                expected: []),
            Undeclared(
                testDescription: "some are named: those only", path: "main.m3u8", attributes: group,
                renditions: [renditions[1]], expected: ["Deutsch"]),
            Undeclared(
                testDescription: "no multivariant playlist", path: "pictures.m3u8",
                expected: ["CC1", "CC3", "SERVICE1"]),
        ])
    func undeclared(_ test: Undeclared) throws {
        let sample = try Self.sample(
            main: CaptionStream.main(test.renditions, attributes: test.attributes), path: test.path)
        try sample.item.add(LegibleOutput())
        var found: [String] = []
        var hasSelected = false
        try sample.play { _ in
            guard let group = sample.item.mediaSelectionGroup(for: .legible) else { return }
            found = group.options.map(\.displayName)
            // Selects late. The results are then the active caption and the later ones.
            guard let epoch = sample.epoch, sample.clock.now.offset - epoch > .seconds(3), !hasSelected,
                let option = group.options.first(where: { $0.displayName == "CC1" })
            else { return }
            hasSelected = true
            #expect(!option.isAutoselectable && option.extendedLanguageTag == nil)
            #expect(sample.item.select(option, in: group))
        }
        #expect(found == test.expected)
        #expect(Self.lines(sample.reportedCues) == (hasSelected ? Array(Self.english.dropFirst()) : []))
    }

    @Test("I05: criteria select closed captions by language, and subtitles only if requested")
    func criteria() throws {
        let sample = try Self.sample()
        sample.player.setMediaSelectionCriteria(MediaSelectionCriteria(preferredLanguages: ["de"]), for: .legible)
        try sample.play()
        #expect(Self.lines(sample.reportedCues) == Self.german)
        let other = try Self.sample()
        try other.play()
        #expect(other.reportedCues.isEmpty)
    }
}
