import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitPlaylist
import HLSKitSelection
import HLSKitSimulation
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitPlayback

@Suite("Timed outputs", .timeLimit(.minutes(10)))
struct TimedOutputTests {
    // MARK: Cues

    private static func cue(_ start: Double, _ end: Double, _ text: String) -> LegibleCue {
        LegibleCue(
            timeRange: MediaTimeRange(
                start: MediaTime(seconds: start, preferredTimescale: 1000),
                duration: MediaTime(seconds: end - start, preferredTimescale: 1000)),
            text: text, payload: text)
    }

    @Test("K02: cues enter and leave when the timebase reaches them")
    func cues() throws {
        let sample = try VirtualSample(prefer: {
            $0.subtitles = try? QualityExpression(parsing: "lang=en", for: .renditions)
        })
        let output = LegibleOutput()
        try sample.item.add(output)
        let deliveries = Recorder<LegibleOutput.Delivery>()
        sample.record(output.cues(), in: deliveries)
        try sample.play()
        let epoch = try #require(sample.epoch)
        let reported = sample.reportedCues
        #expect(reported.count > 5)
        // Each reported cue is in the delivery at its start, and in no delivery at its end or later.
        for cue in reported {
            let entry = deliveries.elements.firstIndex { $0.cues.contains(cue) }
            let index = try #require(entry)
            #expect(deliveries.elements[index].itemTime == cue.timeRange.start)
            let start = try #require(cue.timeRange.start.duration)
            // Subtitles do not delay playback, so cues at time zero arrive as soon as they are loaded.
            #expect(start == .zero || abs(deliveries.times[index] - epoch - start) < .milliseconds(1))
        }
        for delivery in deliveries.elements {
            #expect(delivery.cues.allSatisfy { $0.timeRange.contains(delivery.itemTime) })
        }
        #expect(zip(deliveries.elements, deliveries.elements.dropFirst()).allSatisfy { $0.cues != $1.cues })
    }

    @Test("K02: after a seek back inside the buffer cues are repeated, except skipped ones")
    func cuesAfterSeek() throws {
        let sample = try VirtualSample(prefer: {
            $0.subtitles = try? QualityExpression(parsing: "lang=en", for: .renditions)
        })
        let output = LegibleOutput()
        try sample.item.add(output)
        let deliveries = Recorder<LegibleOutput.Delivery>()
        sample.record(output.cues(), in: deliveries)
        let targets = [(at: Duration.seconds(12), to: 2.0), (.seconds(18), 16)]
        var seeks: [(reported: Int, delivered: Int)] = []
        try sample.play { time in
            guard seeks.count < targets.count, time >= targets[seeks.count].at else { return }
            seeks.append((sample.reportedCues.count, deliveries.elements.count))
            let (player, target) = (sample.player, targets[seeks.count - 1].to)
            Task(executorPreference: sample.clock) {
                let time = MediaTime(seconds: target, preferredTimescale: 1000)
                _ = try? await player.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero)
            }
        }
        #expect(seeks.count == 2)
        #expect(sample.player.state.statistics.numberOfStalls == 0)
        let reported = sample.reportedCues
        let back = reported[seeks[0].reported..<seeks[1].reported]
        #expect(!Set(reported[..<seeks[0].reported]).isDisjoint(with: back))
        #expect(back.allSatisfy { $0.timeRange.end.seconds > 2 && $0.timeRange.start.seconds < 10 })
        #expect(Set(back).count == back.count)
        let over = reported[seeks[1].reported...]
        #expect(over.allSatisfy { $0.timeRange.end.seconds > 16 })
        let shown = deliveries.elements[seeks[0].delivered...].flatMap(\.cues)
        #expect(back.allSatisfy(shown.contains))
    }

    @Test("K02: changes are reported earlier by the advance interval")
    func advance() async {
        let output = LegibleOutput(advanceInterval: .milliseconds(500))
        let stream = output.cues()
        output.receive([Self.cue(2, 3, "a"), Self.cue(2.5, 4, "b")])
        #expect(output.nextDelivery == .milliseconds(1500))
        for time in [1400, 1500, 1999, 2000, 2600, 3500, 4000] {
            output.deliver(upTo: .milliseconds(time), at: OutputClock())
        }
        #expect(output.nextDelivery == nil)
        output.end()
        var found: [String] = []
        for await delivery in stream {
            found.append("\(delivery.itemTime.seconds) " + delivery.cues.map(\.text).joined(separator: "+"))
        }
        #expect(found == ["2.0 a", "2.5 a+b", "3.0 b", "4.0 "])
    }

    @Test("K02: a late cue enters at once, and a jump in time removes all cues")
    func lateCues() async {
        let output = LegibleOutput()
        let stream = output.cues()
        output.deliver(upTo: .seconds(5), at: OutputClock())
        output.receive([Self.cue(3, 8, "late"), Self.cue(1, 2, "over")])
        #expect(output.nextDelivery.map { $0 <= .seconds(5) } == true)
        #expect(output.currentCues(at: MediaTime(value: 6, timescale: 1)).map(\.text) == ["late"])
        output.deliver(upTo: .seconds(5), at: OutputClock())
        #expect(output.nextDelivery == .seconds(8))
        output.flush(generation: 1)
        #expect(output.currentCues(at: MediaTime(value: 6, timescale: 1)).isEmpty)
        output.end()
        var found: [[String]] = []
        for await delivery in stream { found.append(delivery.cues.map(\.text)) }
        #expect(found == [["late"], []])
    }

    // MARK: Metadata

    private static func group(_ seconds: Double, _ title: String) -> TimedMetadataGroup {
        TimedMetadataGroup(
            timeRange: MediaTimeRange(
                start: MediaTime(seconds: seconds, preferredTimescale: 1000), duration: .indefinite),
            items: [
                MetadataItem(.id3Metadata, key: "TIT2", common: .title, value: .string(title)),
                MetadataItem(.id3Metadata, key: "TXXX:n", common: nil, value: .string(title)),
            ])
    }

    @Test("K09: groups arrive at their time, less the advance interval, with the requested items")
    func metadata() async throws {
        let output = MetadataOutput(identifiers: ["org.id3/TIT2"], advanceInterval: .seconds(1))
        let stream = output.groups()
        for (time, title) in [(3.0, "c"), (1.0, "a"), (2.0, "b")] { output.receive(Self.group(time, title)) }
        output.receive(
            TimedMetadataGroup(
                timeRange: MediaTimeRange(start: .zero, duration: .indefinite),
                items: [MetadataItem(.id3Metadata, key: "PRIV:x", common: nil, value: .data([1]))]))
        #expect(output.nextDelivery == .zero)
        output.deliver(upTo: .milliseconds(999), at: OutputClock())
        #expect(output.nextDelivery == .seconds(1))
        output.deliver(upTo: .seconds(1), at: OutputClock())
        #expect(output.nextDelivery == .seconds(2))
        output.flush(generation: 1)
        output.end()
        var titles: [String?] = []
        for await group in stream {
            #expect(group.items.map(\.identifier) == ["org.id3/TIT2"])
            #expect(group.timeRange.duration == .indefinite)
            titles.append(try await group.items[0].load(.stringValue))
        }
        #expect(titles == ["a", "b"])
    }

    @Test("K09: a tag repeated by another variant or reading is reported once")
    func repeatedMetadata() {
        var reader = MetadataReader()
        // An ID3 2.4 tag with a title of two characters.
        let tag = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 13] + Array("TIT2".utf8) + [0, 0, 0, 3, 0, 0, 3, 0x41, 0x42]
        let metadata = TimedMetadata(time: .zero, content: .id3(SampleData(tag)))
        let group = reader.group(of: metadata, at: .seconds(4))
        #expect(group?.timeRange.start.seconds == 4)
        #expect(group?.timeRange.duration == .indefinite)
        #expect(group?.items.map(\.identifier) == ["org.id3/TIT2"])
        let again = reader.group(of: metadata, at: .seconds(4))
        #expect(again == nil)
        let later = reader.group(of: metadata, at: .seconds(5))
        #expect(later != nil)
        #expect(reader.groups(from: .zero).map(\.timeRange.start.seconds) == [4, 5])
        #expect(reader.groups(from: .milliseconds(4001)).map(\.timeRange.start.seconds) == [5])
        let event = EventMessage(
            schemeIDURI: "urn:scte:scte35:2013:bin", value: "1", id: 7, timescale: 90_000,
            timing: .presentationTime(0), duration: 90_000, messageData: [0xfc])
        let other = reader.group(
            of: TimedMetadata(time: .zero, duration: .seconds(1), content: .event(event)), at: .seconds(9))
        #expect(other?.timeRange.duration.seconds == 1)
        #expect(other?.items.map(\.identifier) == ["urn:mpeg:dash:event/urn:scte:scte35:2013:bin:1"])
        let id3 = EventMessage(
            schemeIDURI: "https://aomedia.org/emsg/ID3", timescale: 1000, timing: .presentationTime(0),
            messageData: tag)
        let carried = reader.group(of: TimedMetadata(time: .zero, content: .event(id3)), at: .seconds(9))
        #expect(carried?.items.first?.key == "TIT2")
    }

    @Test("K09: a tag in the media arrives at its time on the timeline")
    func metadataOfMedia() throws {
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:1,\npacked-title.ec3\n#EXT-X-ENDLIST\n"
        let sample = try VirtualSample(quality: nil, path: "packed.m3u8", files: ["packed.m3u8": Array(playlist.utf8)])
        let output = MetadataOutput()
        try sample.item.add(output)
        let groups = Recorder<TimedMetadataGroup>()
        sample.record(output.groups(), in: groups)
        try sample.play()
        #expect(groups.elements.count == 1)
        // 20,160 ticks of 90 kHz after the first sample.
        let start = try #require(groups.elements.first?.timeRange.start.seconds)
        #expect(abs(start - 0.224) < 0.000_1)
        let delay = try #require(groups.times.first) - #require(sample.epoch)
        #expect(abs(delay - .milliseconds(224)) < .milliseconds(1))
        #expect(groups.elements.first?.items.contains { $0.commonKey == .title } == true)
        #expect(sample.player.state.statistics.numberOfDecodedAudioFrames == 0, "nobody takes the sound")
    }

    @Test("K09: SCTE 35 in a transport stream arrives at its time on the timeline, also after a wrap")
    func spliceInformation() throws {
        var writer = TransportStreamWriter(streams: [.init(pid: 257, type: 0x0f), .init(pid: 300, type: 0x86)])
        for index in 0..<100 {
            let pts = (1 << 33) - 9000 + Int64(index) * 1920
            writer.add(.init(pid: 257, pts: pts, payload: TinyAudio.frame(fill: 1), hasLength: true))
            if index == 20 { writer.section(pid: 300, tableID: 0xfc, body: [1, 2, 3]) }
        }
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:2.13333,\na.ts\n#EXT-X-ENDLIST\n"
        let files = ["a.m3u8": Array(playlist.utf8), "a.ts": writer.bytes]
        let sample = try VirtualSample(quality: nil, path: "a.m3u8", files: files)
        let output = MetadataOutput()
        try sample.item.add(output)
        let groups = Recorder<TimedMetadataGroup>()
        sample.record(output.groups(), in: groups)
        try sample.play()
        #expect(groups.elements.count == 1)
        let start = try #require(groups.elements.first?.timeRange.start.seconds)
        #expect(abs(start - 20 * 1920 / 90_000) < 0.000_1)
        #expect(
            groups.elements.first?.items.map(\.identifier) == ["urn:mpeg:dash:event/urn:scte:scte35:2013:bin"])
    }

    // MARK: Date ranges

    private static func tracker(_ ranges: String, first: Int = 0) throws -> PlaylistTracker {
        let text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-MEDIA-SEQUENCE:\(first)
            #EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:0\(first * 4).000Z
            \(ranges)
            #EXTINF:4,
            a.ts
            #EXTINF:4,
            b.ts

            """
        return PlaylistTracker(
            try MediaPlaylist(parsing: text, url: "https://a.invalid/"), requestURL: "https://a.invalid/",
            url: "https://a.invalid/", start: .seconds(first * 4), loadBegan: .zero, now: .zero)
    }

    @Test("K10: each changed playlist reports its date ranges as new, modified or removed")
    func dateRanges() async throws {
        let collector = MetadataCollector(classifyingLabels: ["ad"])
        let stream = collector.updates()
        var reader = DateRangeReader()
        let one = #"#EXT-X-DATERANGE:ID="1",CLASS="ad",START-DATE="2026-01-01T00:00:05Z",X-COM-A="x""#
        let oneEnds = one + ",DURATION=2"
        let two =
            #"#EXT-X-DATERANGE:ID="2",CLASS="ad",START-DATE="2026-01-01T00:00:06Z",END-DATE="2026-01-01T00:00:07Z""#
        let other = #"#EXT-X-DATERANGE:ID="3",CLASS="news",START-DATE="2026-01-01T00:00:05Z""#
        for (ranges, changes) in [
            (one, true), (one, false), ([oneEnds, two, other].joined(separator: "\n"), true), (two, true),
        ] {
            let hasChanged = reader.read(try Self.tracker(ranges))
            #expect(hasChanged == changes)
            collector.receive(reader.groups)
        }
        #expect(collector.groups.map(\.id) == ["2"])
        collector.end()
        var updates: [MetadataCollector.Update] = []
        for await update in stream { updates.append(update) }
        #expect(updates.map { $0.newGroups.map(\.id) } == [["1"], ["2"], []])
        #expect(updates.map { $0.modifiedGroups.map(\.id) } == [[], ["1"], []])
        #expect(updates.map { $0.removedGroups.map(\.id) } == [[], [], ["1"]])
        let open = try #require(updates[0].groups.first)
        #expect(open.timeRange?.start.seconds == 5)
        #expect(open.timeRange?.duration == .indefinite)
        #expect(open.items.map(\.key) == ["X-COM-A"])
        let closed = updates[1].groups
        #expect(closed.map { $0.timeRange?.start.seconds } == [5, 6])
        #expect(closed.map { $0.timeRange?.duration.seconds } == [2, 1])
    }

    @Test("K10: without dates in the playlist a range has no time on the timeline")
    func undated() throws {
        var reader = DateRangeReader()
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-DATERANGE:ID=\"1\",START-DATE=\"2026-01-01T00:00:05Z\"\n#EXTINF:4,\na.ts\n"
        let playlist = try MediaPlaylist(parsing: text, url: "https://a.invalid/")
        let hasChanged = reader.read(
            PlaylistTracker(
                playlist, requestURL: "https://a.invalid/", url: "https://a.invalid/", start: .zero,
                loadBegan: .zero, now: .zero))
        #expect(hasChanged)
        #expect(reader.groups.map(\.timeRange) == [nil])
    }

    // MARK: Samples

    @Test("J07: compressed samples arrive with their tracks and are not decoded")
    func samples() throws {
        let sample = try VirtualSample(end: .seconds(8))
        let output = SampleOutput(mediaTypes: [.video])
        try sample.item.add(output)
        let samples = Recorder<SampleOutput.Sample>()
        sample.record(output.samples(), in: samples)
        try sample.play()
        #expect(samples.elements.count >= 200)
        #expect(samples.elements.first?.sample.isSync == true)
        #expect(samples.elements.allSatisfy { $0.track.codec == .h264 })
        let epoch = try #require(sample.epoch)
        for (element, time) in zip(samples.elements, samples.times) {
            let due = ItemTimeline.duration(element.sample.dts, element.track.timescale)
            #expect(due <= .zero || time - epoch >= due - .milliseconds(1))
        }
        #expect(Set(samples.elements.map(\.itemTime)).count == samples.elements.count)
        #expect(sample.player.state.statistics.numberOfDamagedSamples == 0)
    }
}
