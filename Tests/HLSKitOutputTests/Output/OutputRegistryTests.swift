import HLSKitCodec
import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitSelection
import HLSKitSimulation
import HLSKitTime
import Synchronization
import Testing

@testable import HLSKitPlayback

@Suite("Outputs and writers of an item")
struct OutputRegistryTests {
    private final class Frames: FrameWriter {
        let mediaTypes: Set<MediaKind>
        init(_ mediaTypes: Set<MediaKind>) { self.mediaTypes = mediaTypes }
        func begin(_ tracks: [MediaTrack]) {}
        func write(_ frame: VideoFrame, ofTrackAt index: Int) {}
        func flush() {}
        func finish() {}
    }

    private final class Samples: SampleWriter {
        let mediaTypes: Set<MediaKind> = [.video]
        func begin(_ tracks: [MediaTrack]) {}
        func write(_ sample: MediaSample, ofTrackAt index: Int, at itemTime: MediaTime) {}
        func flush() {}
        func finish() {}
    }

    private static func wants(_ registry: OutputRegistry) -> Set<String> {
        var wants: Set<String> = []
        for type in [MediaKind.video, .audio] {
            if registry.wantsFrames(of: type) { wants.insert("\(type.rawValue) decoded") }
            if registry.wantsSamples(of: type) { wants.insert("\(type.rawValue) samples") }
        }
        if registry.wantsCues { wants.insert("cues") }
        if registry.wantsMetadata { wants.insert("metadata") }
        if registry.wantsDateRanges { wants.insert("date ranges") }
        return wants
    }

    private static let composition = FrameComposition { $0.sourceFrame }
    private static let outputs: [(any PlayerItemOutput, Set<String>)] = [
        (VideoOutput(), ["video decoded"]),
        (AudioOutput(), ["audio decoded"]),
        (SampleOutput(), ["video samples", "audio samples"]),
        (SampleOutput(mediaTypes: [.audio]), ["audio samples"]),
        (LegibleOutput(), ["cues"]),
        (LegibleOutput(captions: []), []),
        (CueCollector(), ["cues"]),
        (MetadataOutput(), ["metadata"]),
        (MetadataCollector(), ["date ranges"]),
        (CompositionOutput(composition), ["video decoded"]),
        (
            CompositionOutput(FrameComposition(sourceSampleDataTrackIDs: [1], instructions: []) { $0.sourceFrame }),
            ["video decoded", "metadata"]
        ),
    ]

    @Test("an output gets media by its protocols, except suppressed kinds")
    func outputs() {
        let all = OutputRegistry()
        for (output, wanted) in Self.outputs {
            let registry = OutputRegistry()
            #expect(registry.add(output))
            #expect(Self.wants(registry) == wanted, "\(output)")
            #expect(!all.add(output), "it belongs to an item")
            #expect(registry.remove(output))
            #expect(Self.wants(registry).isEmpty)
        }
    }

    @Test("a writer gets media by its protocols and kinds of media")
    func writers() {
        let registry = OutputRegistry()
        registry.add(Frames([.audio]))
        #expect(Self.wants(registry).isEmpty, "it cannot take decoded audio")
        registry.add(ClipWriter(Frames([.video])))
        #expect(registry.wantsFrames(of: .video))
        #expect(!registry.wantsSamples(of: .video))
        registry.add(ClipWriter(Samples()))
        #expect(registry.writersWantSamples(of: .video))
        #expect(!registry.wantsSamples(of: .audio))
        #expect(registry.writers.map(\.capabilities.frames).map { $0 != nil } == [false, true, false])
    }

    @Test("channels are limited by the largest output, unless one takes them unchanged")
    func channels() {
        let registry = OutputRegistry()
        #expect(registry.limits.maximumChannelCount == nil)
        for count in [1, 6, 2] { #expect(registry.add(AudioOutput(format: .init(channelCount: count)))) }
        #expect(registry.limits.maximumChannelCount == 6)
        let samples = SampleOutput(mediaTypes: [.audio])
        #expect(registry.add(samples))
        #expect(registry.limits.maximumChannelCount == nil)
        #expect(registry.remove(samples))
        #expect(registry.add(VideoOutput()))
        #expect(registry.limits.maximumChannelCount == 6)
    }
}

@Suite("Media for writers", .timeLimit(.minutes(10)))
struct WriterFeedTests {
    private final class Log: SampleWriter {
        let mediaTypes: Set<MediaKind> = [.video, .audio]
        let isReadAsWritten: Bool
        private let log = Mutex<[String]>([])
        var lines: [String] { log.withLock(\.self) }

        init(isReadAsWritten: Bool = false) { self.isReadAsWritten = isReadAsWritten }

        func begin(_ tracks: [MediaTrack]) { add("tracks " + tracks.map { "\($0.id)" }.joined(separator: " ")) }
        func write(_ sample: MediaSample, ofTrackAt index: Int, at itemTime: MediaTime) {
            add("\(index) at \(itemTime.seconds)")
        }
        func flush() { add("flush") }
        func finish() {}
        private func add(_ line: String) { log.withLock { $0.append(line) } }
    }

    private static func track(_ id: Int, _ type: MediaKind) -> MediaTrack {
        MediaTrack(id: id, mediaType: type, codec: type == .video ? .h264 : .aac, timescale: 1000)
    }

    private let clock = VirtualClock()
    private let registry = OutputRegistry()

    private func write(_ type: MediaKind, at seconds: Double, to feed: WriterFeed) {
        Task(executorPreference: clock) {
            let sample = MediaSample(trackID: 1, pts: 0, dts: 0, isSync: true, data: SampleData([0]))
            let time = MediaTime(seconds: seconds, preferredTimescale: 1000)
            try await feed.write(sample, of: type, at: time)
        }
        clock.advance(by: .zero)
    }

    private func begin(_ track: MediaTrack, _ feed: WriterFeed, at time: Duration = .zero) {
        Task(executorPreference: clock) { try await feed.begin(track, at: time) }
        clock.advance(by: .zero)
    }

    @Test("a writer gets all its tracks before any media, and again when one changes")
    func tracks() {
        let (feed, log) = (WriterFeed(registry, isHeld: false), Log())
        registry.add(log)
        begin(Self.track(1, .video), feed)
        write(.video, at: 0, to: feed)
        #expect(log.lines.isEmpty, "which kinds there are is not known")
        feed.expect([.video, .audio])
        clock.advance(by: .zero)
        #expect(log.lines.isEmpty, "the audio track is not known")
        begin(Self.track(2, .audio), feed)
        #expect(log.lines == ["tracks 1 2", "0 at 0.0"])
        write(.audio, at: 0.1, to: feed)
        begin(Self.track(3, .audio), feed)
        write(.audio, at: 0.2, to: feed)
        #expect(log.lines.suffix(3) == ["1 at 0.1", "tracks 1 3", "1 at 0.2"])
    }

    @Test("a writer added late does not wait for other kinds of media")
    func late() {
        registry.open(clock: { OutputClock() }, noteChange: {})
        let (feed, log) = (WriterFeed(registry, isHeld: false), Log())
        registry.add(log)
        feed.expect([.video, .audio])
        begin(Self.track(1, .video), feed)
        write(.video, at: 7, to: feed)
        begin(Self.track(2, .audio), feed)
        #expect(log.lines == ["tracks 1", "0 at 7.0", "tracks 1 2"])
    }

    @Test("while the item is held, writers get no tracks; its first media releases them")
    func held() {
        let (feed, log) = (WriterFeed(registry, isHeld: true), Log())
        registry.add(log)
        feed.expect([.video])
        begin(Self.track(1, .video), feed)
        #expect(log.lines.isEmpty)
        feed.release()
        write(.video, at: 0, to: feed)
        #expect(log.lines == ["tracks 1", "0 at 0.0"])
    }

    @Test("closing releases a task that waits for missing tracks")
    func close() throws {
        let (feed, log) = (WriterFeed(registry, isHeld: false), Log())
        registry.add(log)
        feed.expect([.video, .audio])
        begin(Self.track(1, .video), feed)
        let done = OneShot<Void>()
        Task(executorPreference: clock) {
            let sample = MediaSample(trackID: 1, pts: 0, dts: 0, isSync: true, data: SampleData([0]))
            try await feed.write(sample, of: .video, at: .zero)
            done.set(())
        }
        clock.advance(by: .zero)
        #expect(!done.isSet)
        feed.close()
        clock.advance(by: .zero)
        #expect(done.isSet)
        #expect(log.lines.isEmpty)
    }

    @Test("writers are flushed once per second of media, and after a jump back")
    func flushes() {
        let (feed, log) = (WriterFeed(registry, isHeld: false), Log())
        registry.add(log)
        feed.expect([.video])
        begin(Self.track(1, .video), feed)
        for time in [0, 0.5, 1, 1.5, 0.9, 2, 3.2, 8, 1] { write(.video, at: time, to: feed) }
        let lines = log.lines.dropFirst()
        let flushed = zip(lines, lines.dropFirst()).filter { $1 == "flush" }.map(\.0)
        #expect(flushed == ["0 at 1.0", "0 at 2.0", "0 at 3.2", "0 at 8.0", "0 at 1.0"])
    }

    @Test("a writer with a live reader is flushed after each piece if playback is paced", arguments: [true, false])
    func flushesAtOnce(isPaced: Bool) {
        let (feed, log) = (
            WriterFeed(registry, isHeld: false, isPaced: isPaced), Log(isReadAsWritten: true)
        )
        registry.add(ClipWriter(log, startingAt: nil))
        feed.expect([.video])
        begin(Self.track(1, .video), feed)
        for time in [0, 0.1, 0.2] { write(.video, at: time, to: feed) }
        #expect(log.lines.count { $0 == "flush" } == (isPaced ? 3 : 0))
    }

    @Test("an asset's media before time 0 is appended to earlier output and delays the rest")
    func lead() {
        let (feed, log) = (WriterFeed(registry, isHeld: false), Log())
        registry.add(log)
        feed.expect([.video, .audio])
        begin(Self.track(1, .video), feed)
        begin(Self.track(2, .audio), feed, at: .milliseconds(-20))
        write(.audio, at: -0.02, to: feed)
        write(.video, at: 0, to: feed)
        feed.hold()
        let asset = WriterFeed(OutputRegistry(following: registry), isHeld: true)
        asset.expect([.video, .audio])
        begin(Self.track(3, .video), asset)
        asset.place(.seconds(4), after: nil)
        asset.release()
        write(.video, at: 0, to: asset)
        #expect(log.lines.count == 3, "where the sound begins is not known")
        begin(Self.track(4, .audio), asset, at: .milliseconds(-20))
        write(.audio, at: -0.02, to: asset)
        write(.video, at: 0.04, to: asset)
        feed.place(.seconds(2), after: nil)
        feed.release()
        write(.video, at: 4, to: feed)
        #expect(
            log.lines.filter { $0.contains(" at ") } == [
                "1 at -0.02", "0 at 0.0", "0 at 4.02", "1 at 4.0", "0 at 4.06", "0 at 6.02",
            ])
    }

    @Test("an item that was left early continues after its written media, whatever its times")
    func excess() {
        let (feed, log) = (WriterFeed(registry, isHeld: false), Log())
        registry.add(log)
        feed.expect([.video])
        begin(Self.track(1, .video), feed)
        for time in [0, 0.5, 1] { write(.video, at: time, to: feed) }
        // The item was left at 0.8 s and continues at 5 s.
        feed.place(.milliseconds(-4200), after: .seconds(5))
        write(.video, at: 5, to: feed)
        feed.place(.milliseconds(-6200), after: nil)
        write(.video, at: 9, to: feed)
        // A position far before the written media results from a seek. A later position leaves a gap.
        feed.place(.seconds(-6), after: .seconds(6))
        write(.video, at: 6, to: feed)
        feed.place(.seconds(2), after: .seconds(9))
        write(.video, at: 9, to: feed)
        let lines = log.lines.filter { $0 != "flush" }.suffix(4)
        #expect(Array(lines) == ["0 at 1.0", "0 at 3.0", "0 at 0.2", "0 at 11.2"])
    }

    @Test("writers get a continuous timeline: item, interstitial, rest of the item")
    func shared() {
        let (feed, log) = (WriterFeed(registry, isHeld: false), Log())
        let other = WriterFeed(OutputRegistry(following: registry), isHeld: false)
        registry.add(log)
        for one in [feed, other] {
            one.expect([.video])
            begin(Self.track(1, .video), one)
        }
        // The item was left at 0.8 s, and the other feed is left at its start.
        for time in [0, 0.5, 1] { write(.video, at: time, to: feed) }
        other.place(.milliseconds(800), after: .zero)
        write(.video, at: 0, to: other)
        feed.place(.milliseconds(-4200), after: .seconds(5))
        write(.video, at: 5, to: feed)
        let lines = log.lines.filter { $0.contains(" at ") }
        let times = lines.compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }
        #expect(times.count == 5 && zip(times, times.dropFirst()).allSatisfy { $0 <= $1 }, "\(lines)")
    }
}
