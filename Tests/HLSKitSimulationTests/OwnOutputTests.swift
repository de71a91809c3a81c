import Foundation
import HLSKitCore
import HLSKitSimulation
import Synchronization
import TestSupport
import Testing

@Suite("Custom outputs", .timeLimit(.minutes(10)))
struct OwnOutputTests {
    private final class Tally: FrameReceiver, AudioReceiver, SampleReceiver, CueReceiver, MetadataReceiver, TimedOutput
    {
        struct Notes: Sendable {
            var frames: [(itemTime: Duration, clock: OutputClock)] = []
            var audio: [(itemTime: Duration, length: Duration, clock: OutputClock)] = []
            var sampleCounts: [MediaKind: Int] = [:]
            var cues: [LegibleCue] = []
            var groups: [TimedMetadataGroup] = []
            var deliveries: [Duration] = []
            var flushes: [Int] = []
            var finished: Set<MediaKind> = []
            var endCount = 0
        }

        let binding = OutputBinding()
        let sampleTypes: Set<MediaKind> = [.video, .audio]
        private let state = Mutex(Notes())
        private let failingFrame: Int

        init(failingFrame: Int = .max) { self.failingFrame = failingFrame }

        var notes: Notes { state.withLock { $0 } }

        func receive(_ frame: VideoFrame, at clock: OutputClock) throws(HLSError) {
            let count = state.withLock { notes in
                notes.frames.append((frame.itemTime?.duration ?? .seconds(-1), clock))
                return notes.frames.count
            }
            if count == failingFrame { throw HLSError(code: .writeFailed, path: "own", text: "no more") }
        }

        func receive(_ buffer: AudioBuffer, at clock: OutputClock) {
            let length = Duration.seconds(1) * buffer.frameCount / buffer.sampleRate
            state.withLock { $0.audio.append((buffer.itemTime?.duration ?? .seconds(-1), length, clock)) }
        }

        func receive(_ sample: MediaSample, of track: MediaTrack, at itemTime: MediaTime, clock: OutputClock) {
            state.withLock { $0.sampleCounts[track.mediaType, default: 0] += 1 }
        }

        func receive(_ cues: [LegibleCue]) { state.withLock { $0.cues += cues } }

        func replace(_ changes: [CueChange]) {
            state.withLock { notes in
                for change in changes {
                    if let index = notes.cues.lastIndex(of: change.old) { notes.cues[index] = change.new }
                }
            }
        }

        func removeCues() { state.withLock { $0.cues = [] } }

        func receive(_ group: TimedMetadataGroup) { state.withLock { $0.groups.append(group) } }

        /// The time of the next cue, at which the output wants a call.
        var nextDelivery: Duration? {
            state.withLock { notes in
                let last = notes.deliveries.last ?? .seconds(-1)
                return notes.cues.compactMap(\.timeRange.start.duration).filter { $0 > last }.min()
            }
        }

        func deliver(upTo time: Duration, at clock: OutputClock) { state.withLock { $0.deliveries.append(time) } }

        func flush(generation: Int) { state.withLock { $0.flushes.append(generation) } }
        func finish(_ type: MediaKind, at clock: OutputClock) { state.withLock { _ = $0.finished.insert(type) } }
        func end() { state.withLock { $0.endCount += 1 } }
    }

    private final class FrameCounter: FrameReceiver {
        let binding = OutputBinding()
        let count = Atomic(0)
        func receive(_ frame: VideoFrame, at clock: OutputClock) { count.add(1, ordering: .relaxed) }
        func flush(generation: Int) {}
        func finish(_ type: MediaKind, at clock: OutputClock) {}
        func end() {}
    }

    private struct Stage {
        let clock = VirtualClock()
        let player: Player
        let item: PlayerItem

        init(path: String = "master.m3u8", files: [String: [UInt8]] = [:]) throws {
            let link = try NetworkTrace(parsing: "1000,50000,20\n".utf8)
            let transport = SimulatedTransport(over: link, clock: clock) { request in
                let name = request.urlString.split(separator: "/").last.map(String.init) ?? ""
                let type = name.hasSuffix("m3u8") ? "application/vnd.apple.mpegurl" : "video/mp4"
                if let file = files[name] { return SimulatedResponse(contentType: type, body: file) }
                for folder in [SampleMedia.folder, SampleMedia.fixtures + "/media"] {
                    guard let data = try? Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)")) else { continue }
                    return SimulatedResponse(contentType: type, body: Array(data))
                }
                return .notFound
            }
            var configuration = PlayerConfiguration(clock: clock, transport: transport)
            configuration.decodingThreadCount = 1
            player = Player(configuration: configuration)
            item = PlayerItem(urlString: "https://sample.invalid/\(path)")
            if files.isEmpty {
                item.quality = try QualityExpression(parsing: "180p")
                item.subtitles = try QualityExpression(parsing: "lang=en", for: .renditions)
                item.endPosition = .time(.seconds(10))
            }
        }

        func play(seekingAt time: Duration? = nil) throws -> [PlayerEvent] {
            let (player, clock) = (player, clock)
            let events = player.events()
            player.play()
            try player.replaceCurrentItem(with: item)
            if let time {
                Task(executorPreference: clock) {
                    try await clock.sleep(for: time)
                    _ = try await player.seek(to: .zero)
                }
            }
            return try clock.run {
                var reported: [PlayerEvent] = []
                for await event in events {
                    reported.append(event)
                    if event.isLast { break }
                }
                await player.close()
                return reported
            }
        }
    }

    private static func distance(_ one: Duration, _ other: Duration) -> Duration { max(one - other, other - one) }

    @Test("an output gets every frame, buffer, sample and cue at its time, and the end")
    func everything() throws {
        let stage = try Stage()
        let (tally, counter, collector) = (Tally(), FrameCounter(), CueCollector())
        for output in [tally, counter, collector] as [any PlayerItemOutput] { try stage.item.add(output) }
        #expect(tally.binding.clock == nil)
        let events = try stage.play()
        let notes = tally.notes
        #expect(notes.frames.map(\.itemTime) == (0..<250).map { .milliseconds(40) * $0 })
        #expect(counter.count.load(ordering: .relaxed) == 250)
        // Delivery is paced: each frame arrives at its time.
        for (time, clock) in notes.frames.dropFirst() {
            #expect(clock.isPaced)
            #expect(Self.distance(try #require(clock.itemTime.duration), time) <= .milliseconds(1))
        }
        for (one, next) in zip(notes.audio, notes.audio.dropFirst()) {
            #expect(Self.distance(one.itemTime + one.length, next.itemTime) < .milliseconds(1))
        }
        let last = try #require(notes.audio.last)
        #expect(Self.distance(last.itemTime + last.length, .seconds(10)) < .milliseconds(50))
        #expect(try #require(notes.sampleCounts[.video]) >= 250)
        #expect(try #require(notes.sampleCounts[.audio]) >= notes.audio.count)
        // The output gets the same cues as the library's own output, each at its start.
        #expect(notes.cues.isEmpty == false)
        #expect(Set(notes.cues) == Set(collector.cues))
        let reported = events.compactMap {
            if case .legibleCue(let cue) = $0.kind { cue.timeRange.start.duration } else { nil }
        }
        #expect(notes.deliveries.count == Set(reported).count)
        #expect(notes.finished == [.video, .audio])
        #expect(notes.flushes.isEmpty)
        #expect(notes.endCount == 1)
        #expect(tally.binding.isOver)
    }

    @Test("after a seek the output is flushed, and cues are repeated")
    func seek() throws {
        let stage = try Stage()
        let tally = Tally()
        try stage.item.add(tally)
        _ = try stage.play(seekingAt: .seconds(5))
        let notes = tally.notes
        #expect(notes.flushes == [1])
        let generations = notes.frames.map(\.clock.generation)
        #expect(Set(generations) == [0, 1])
        #expect(generations == generations.sorted())
        let again = notes.frames.filter { $0.clock.generation == 1 }.map(\.itemTime)
        #expect(again == (0..<250).map { .milliseconds(40) * $0 })
        let first = try #require(notes.cues.first)
        #expect(notes.cues.count { $0 == first } == 2)
    }

    @Test("timed metadata reaches every output that takes it")
    func metadata() throws {
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:1,\npacked-title.ec3\n#EXT-X-ENDLIST\n"
        let stage = try Stage(path: "packed.m3u8", files: ["packed.m3u8": Array(playlist.utf8)])
        let tally = Tally()
        try stage.item.add(tally)
        _ = try stage.play()
        #expect(tally.notes.groups.count == 1)
        #expect(tally.notes.groups.first?.items.contains { $0.commonKey == .title } == true)
    }

    @Test("an error thrown by an output fails the item")
    func failure() throws {
        let stage = try Stage()
        let tally = Tally(failingFrame: 50)
        try stage.item.add(tally)
        let events = try stage.play()
        guard case .itemStatusChanged(.failed) = try #require(events.last).kind else {
            Issue.record("\(String(describing: events.last))")
            return
        }
        #expect("\(stage.item.error.map { "\($0)" } ?? "")".contains("no more"))
        #expect(tally.notes.frames.count == 50)
        #expect(tally.notes.endCount >= 1)
    }

    @Test("an output that suppresses writers leaves them no media of its kind")
    func suppression() throws {
        let stage = try Stage()
        let (counter, writer) = (FrameCounter(), FrameLog(clock: stage.clock))
        counter.suppressesPlayerRendering = true
        try stage.item.add(counter)
        stage.item.add(writer)
        _ = try stage.play()
        #expect(counter.count.load(ordering: .relaxed) == 250)
        #expect(writer.frames.isEmpty)
    }

    @Test("an output belongs to one item at a time")
    func belonging() throws {
        let (one, other) = (try Stage(), try Stage())
        let counter = FrameCounter()
        try one.item.add(counter)
        #expect(throws: HLSError.self) { try other.item.add(counter) }
        #expect(one.item.remove(counter))
        #expect(!one.item.remove(counter))
        try other.item.add(counter)
    }
}
