import Foundation
import HLSKitCore
import TestSupport
import Testing

@Suite("Seam between two items of a queue", .timeLimit(.minutes(10)))
struct QueueSeamTests {
    private static let url = "file://\(SampleMedia.folder)/master.m3u8"

    /// A part of the sample. `nil` means its start or end.
    struct Part: Sendable {
        var from: Duration?
        var to: Duration?
    }

    private static func item(_ part: Part, to writers: [any MediaWriter]) throws -> PlayerItem {
        let item = try PlayerItem(url, quality: "180p", to: nil) { preferences in
            if let from = part.from { preferences.startPosition = .time(MediaTime(from)) }
            if let to = part.to { preferences.endPosition = .time(MediaTime(to)) }
        }
        for writer in writers { item.add(writer) }
        return item
    }

    private static func play(_ items: [PlayerItem]) async throws {
        let player = try QueuePlayer(items: items, configuration: .unpaced())
        let events = player.events()
        player.play()
        for await event in events { if case .currentItemChanged(nil) = event.kind { break } }
        await player.close()
    }

    @Test(
        "H09: every frame is output once, with audio continuous to the sample, as from the items alone",
        arguments: [
            [Part(from: .seconds(38)), Part(to: .seconds(2))],
            [Part(to: .seconds(2)), Part(from: .seconds(6), to: .seconds(8)), Part(from: .seconds(39))],
        ])
    func seam(_ parts: [Part]) async throws {
        let folder = try ScratchFolder()
        func audio(_ name: String) throws -> any MediaWriter {
            try OutputFormat.s16le.makeWriter(path: "\(folder.path)/\(name).pcm")
        }
        func bytes(_ name: String) throws -> Data {
            try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/\(name).pcm"))
        }
        var hashes: [String] = []
        var samples = Data()
        for (index, part) in parts.enumerated() {
            let (frames, pcm) = (CapturingWriter([.video]), try audio("\(index)"))
            try await Self.play([try Self.item(part, to: [frames, pcm])])
            try pcm.finish()
            hashes += frames.frames.map(\.hash)
            samples += try bytes("\(index)")
        }
        let (frames, pcm) = (CapturingWriter([.video]), try audio("all"))
        let output = ContinuedOutput([frames, pcm])
        let items = try parts.map { part in
            try Self.item(part, to: output.nextWriters(startingAt: MediaTime(part.from ?? .zero, timescale: 1000)))
        }
        try await Self.play(items)
        try pcm.finish()
        #expect(frames.frames.map(\.hash) == hashes)
        #expect(try bytes("all") == samples)
        #expect(!samples.isEmpty)
        // The frames of an item follow the audio of the previous item, if that ends after the video.
        let times = frames.frames.map(\.time)
        let distances = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(
            distances.allSatisfy { $0 > .milliseconds(39) && $0 < .milliseconds(70) }, "\(distances.max() ?? .zero)")
    }
}
