import Foundation
import HLSKitEngine
import HLSKitOutput
import HLSKitPlayback
import HLSKitSelection
import HLSKitTime
import TestSupport
import Testing

@Suite("Seams of a break", .timeLimit(.minutes(10)))
struct BreakSeamTests {
    private static let url = "file://\(SampleMedia.folder)/master.m3u8"

    private static func item(_ from: Duration?, _ to: Duration?, _ writers: [any MediaWriter]) throws -> PlayerItem {
        let item = try PlayerItem(url, quality: "180p", to: nil) { preferences in
            if let from { preferences.startPosition = .time(MediaTime(from)) }
            if let to { preferences.endPosition = .time(MediaTime(to)) }
        }
        for writer in writers { item.add(writer) }
        return item
    }

    private static func play(_ item: PlayerItem, _ events: [InterstitialEvent]? = nil) async throws {
        let player = try Player(item: item, configuration: .unpaced())
        let stream = player.events()
        InterstitialEventController(primaryPlayer: player).setEvents(events, for: item)
        player.play()
        for await event in stream where event.isEnd { break }
        await player.close()
    }

    @Test(
        "every frame and sample is output once, as from the parts alone",
        arguments: [
            // Breaks at the end of a segment, within a segment and within a frame. Playback resumes there, later or
            // earlier.
            (6.0, 2.0, 6.0), (7.0, 2.0, 7.0), (7.01, 2.5, 7.01), (7.0, 3.0, 10.0), (9.0, 2.0, 4.5),
        ])
    func seam(_ time: Double, _ length: Double, _ resumption: Double) async throws {
        let folder = try ScratchFolder()
        func audio(_ name: String) throws -> any MediaWriter {
            try OutputFormat.s16le.makeWriter(path: "\(folder.path)/\(name).pcm")
        }
        func bytes(_ name: String) throws -> Data {
            try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/\(name).pcm"))
        }
        var hashes: [String] = []
        var samples = Data()
        let parts: [(Duration?, Duration?)] = [
            (nil, .seconds(time)), (nil, .seconds(length)), (.seconds(resumption), .seconds(14)),
        ]
        for (index, part) in parts.enumerated() {
            let (frames, pcm) = (CapturingWriter(), try audio("\(index)"))
            try await Self.play(try Self.item(part.0, part.1, [frames, pcm]))
            try pcm.finish()
            hashes += frames.frames.map(\.hash)
            // The audio of the asset starts before its video, but must not overlap the end of the item's audio.
            if index == 1 { #expect(frames.sounds.first.map { $0.time < .milliseconds(-20) } == true) }
            samples += try bytes("\(index)")
        }
        let (frames, pcm) = (CapturingWriter(), try audio("all"))
        var event = InterstitialEvent(
            id: "e", time: MediaTime(.seconds(time)), content: .assets([InterstitialAsset(urlString: Self.url)]))
        event.resumptionOffset = MediaTime(.seconds(resumption - time))
        event.playoutLimit = MediaTime(.seconds(length))
        try await Self.play(try Self.item(nil, .seconds(14), [frames, pcm]), [event])
        try pcm.finish()
        #expect(frames.frames.map(\.hash) == hashes)
        #expect(try bytes("all") == samples)
        #expect(frames.largestAudioGap < .microseconds(30))
        let times = frames.frames.map(\.time)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 > $0 })
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 < .milliseconds(81) })
    }
}
