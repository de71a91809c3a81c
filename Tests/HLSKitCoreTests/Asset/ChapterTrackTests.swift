import Foundation
import HLSKitAsset
import HLSKitPlayback
import HLSKitSelection
import HLSKitTime
import TestSupport
import Testing

@Suite("Chapter tracks of MP4 files", .timeLimit(.minutes(10)))
struct ChapterTrackTests {
    /// Loads the chapters of `tagged.mp4` without the named boxes. The file has a chapter list and a chapter track.
    private static func chapters(
        without names: [String], change: (inout [UInt8]) -> Void = { _ in }
    ) async throws -> [TimedMetadataGroup] {
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(SampleMedia.fixtures)/media/mp4/tagged.mp4")))
        for name in names {
            let code = Array(name.utf8)
            var found = 0
            for at in 0..<bytes.count - 4 where bytes[at..<at + 4].elementsEqual(code) {
                bytes.replaceSubrange(at..<at + 4, with: "free".utf8)
                found += 1
            }
            #expect(found == 1, "\(name)")
        }
        change(&bytes)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("chapters-\(UUID().uuidString).mp4")
        try Data(bytes).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let options = AssetOptions(transport: PlayerConfiguration.unpaced().transport)
        let asset = Asset(urlString: file.absoluteString, options: options)
        let locale = try await asset.load(.availableChapterLocales).first ?? "none"
        return try await asset.loadChapterMetadataGroups(withTitleLocale: locale)
    }

    private static func titles(_ groups: [TimedMetadataGroup]) async throws -> [String?] {
        var titles: [String?] = []
        for group in groups { titles.append(try await group.items.first?.load(.stringValue)) }
        return titles
    }

    @Test("A10: a chapter track and a chapter list give the same chapters", arguments: [[], ["chpl"], ["tref"]])
    func sources(without names: [String]) async throws {
        let groups = try await Self.chapters(without: names)
        #expect(groups.map(\.timeRange.start.seconds) == [0, 0.2])
        #expect(try await Self.titles(groups) == Self.titles(try await Self.chapters(without: ["tref"])))
        #expect(try await !Self.titles(groups).contains(nil))
        #expect(groups.first?.timeRange.duration.seconds == 0.2)
    }

    @Test("A10: without a chapter track or list there are no chapters")
    func none() async throws {
        #expect(try await Self.chapters(without: ["tref", "chpl"]).isEmpty)
    }

    @Test("A10: a reference to a missing chapter track is ignored")
    func badReference() async throws {
        let groups = try await Self.chapters(without: []) { bytes in
            guard let at = bytes.indices.dropLast(8).first(where: { bytes[$0..<$0 + 4].elementsEqual("chap".utf8) })
            else { return }
            bytes.replaceSubrange(at + 4..<at + 8, with: [0, 0, 0, 99])
        }
        #expect(groups.map(\.timeRange.start.seconds) == [0, 0.2])
    }
}
