import Foundation
import HLSKitLoading
import HLSKitOutput
import HLSKitPlaylist
import HLSKitSelection
import HLSKitSimulation
import TestSupport
import Testing

@testable import HLSKitDownload

@Suite("Several variants in one download", .timeLimit(.minutes(10)))
struct DownloadVariantsTests {
    private static func expressions(_ texts: [String]) throws -> [QualityExpression] {
        try texts.map { try QualityExpression(parsing: $0) }
    }

    @Test(
        "S01: additional variants are the best matching ones not yet selected",
        arguments: [
            ("180p", [], ["320x180"]), ("180p", ["360p"], ["320x180", "640x360"]),
            ("best", ["best", "best"], ["960x540", "640x360", "320x180"]),
            ("worst", ["height<=360", "540p"], ["320x180", "640x360", "960x540"]),
        ])
    func choice(_ quality: String, _ others: [String], resolutions: [String]) throws {
        let server = try SampleServer()
        let selection = try server.clock.run {
            var configuration = try await server.task().configuration
            configuration.quality = try QualityExpression(parsing: quality)
            configuration.auxiliaryQualities = try Self.expressions(others)
            return try DownloadSelection(
                configuration, of: Self.multivariant(at: SampleMedia.folder + "/master.m3u8"))
        }
        let variants = selection.entries.filter { $0.lane.kind == .main }
        #expect(variants.map(\.lane.resolution) == resolutions)
        #expect(variants.map(\.lane.isAuxiliary) == resolutions.indices.map { $0 > 0 })
        #expect(selection.entries.count { $0.lane.kind == .audio } == 1)
        #expect(Set(selection.entries.map(\.lane.id)).count == selection.entries.count)
    }

    @Test("S01: a folder of several variants contains all of them, with one shared rendition")
    func folder() throws {
        let server = try SampleServer()
        let found = try server.clock.run {
            let others = try Self.expressions(["540p"])
            let task = try await server.task { $0.auxiliaryQualities = others }
            let result = try await task.run()
            #expect(result.gaps.isEmpty)
            #expect(abs(result.duration / .seconds(1) - 40) < 0.1)
            try await task.writePlaylists()
            let notes = Notes()
            let files = try await task.write(
                to: server.folder.path + "/film.mp4", format: .mp4, note: notes.collect)
            #expect(files.paths.count == 1 && files.unreadable.isEmpty)
            #expect(abs(files.duration / .seconds(1) - 40) < 0.2)
            #expect(notes.all.contains { $0.hasPrefix("a file holds one variant") })
            return (try Self.multivariant(at: server.folder.path + "/d/index.m3u8"), result.segmentCount)
        }
        #expect(found.0.variants.map(\.resolution?.height) == [180, 540])
        #expect(found.0.variants.map(\.audio) == ["audio", "audio"])
        #expect(found.0.renditions.count == 1)
        for variant in found.0.variants {
            let text = try String(contentsOfFile: server.folder.path + "/d/" + variant.uri, encoding: .utf8)
            #expect(text.components(separatedBy: "#EXTINF").count == 11)
            #expect(!text.contains("#EXT-X-GAP"))
        }
        // The playlists have the stream's target duration, so that `hlsget validate` finds nothing in the folder.
        let lists = try FileManager.default.contentsOfDirectory(atPath: server.folder.path + "/d").filter {
            $0.hasSuffix(".m3u8") && $0 != "index.m3u8"
        }.map { try String(contentsOfFile: server.folder.path + "/d/" + $0, encoding: .utf8) }
        #expect(lists.count == 3)
        let target = { (text: String) in text.split(separator: "\n").first { $0.hasPrefix("#EXT-X-TARGETDURATION") } }
        #expect(lists.map(target) == Array(repeating: "#EXT-X-TARGETDURATION:4", count: 3))
        let declared = try Self.multivariant(at: SampleMedia.folder + "/master.m3u8").variants
        for variant in found.0.variants {
            let of = try #require(declared.first { $0.resolution == variant.resolution })
            #expect(variant.averageBandwidth == of.averageBandwidth && variant.frameRate == of.frameRate)
            #expect(variant.averageBandwidth != nil && variant.frameRate != nil)
        }
        #expect(found.1 == server.mediaRequests.count { $0.resourceClass == .segment })
    }

    private static func multivariant(at path: String) throws -> MultivariantPlaylist {
        var parser = PlaylistParser(url: SampleServer.url)
        try parser.append(Array(try Data(contentsOf: URL(fileURLWithPath: path))))
        guard case .multivariant(let playlist) = try parser.finish() else { throw CancellationError() }
        return playlist
    }

    @Test("S01: a missing additional variant ends the download before anything is loaded")
    func missing() throws {
        let server = try SampleServer()
        try server.clock.run {
            let others = try Self.expressions(["1080p"])
            let task = try await server.task { $0.auxiliaryQualities = others }
            let error = await #expect(throws: HLSError.self) { try await task.run() }
            #expect(error?.code == .noEligibleVariant)
            #expect(server.mediaRequests.isEmpty)
        }
    }
}
