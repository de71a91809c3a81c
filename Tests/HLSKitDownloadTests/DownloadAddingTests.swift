import Foundation
import HLSKitAsset
import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitSimulation
import TestSupport
import Testing

@testable import HLSKitDownload

@Suite("Adding to a finished download", .timeLimit(.minutes(5)))
struct DownloadAddingTests {
    private static let url = "http://h.invalid/master.m3u8"

    /// Two variants with separate audio in two languages.
    private static let master = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="en.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Deutsch",LANGUAGE="de",AUTOSELECT=YES,URI="de.m3u8"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",AUTOSELECT=YES,URI="subs.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=100000,RESOLUTION=320x180,AUDIO="a",SUBTITLES="s"
        low.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=640x360,AUDIO="a",SUBTITLES="s"
        high.m3u8

        """

    /// The same playlist with the English audio in the variants.
    private static let muxed = master.replacingOccurrences(of: ",URI=\"en.m3u8\"", with: "")

    private static let other = master.replacingOccurrences(of: "BANDWIDTH=", with: "BANDWIDTH=7")

    private struct Outcome: Sendable {
        var result: DownloadTask.Result?
        var error: HLSError?
        var segments: [String] = []
    }

    /// Downloads into a folder and finishes it.
    ///
    /// - Parameters:
    ///   - work: The folder before it is finished, or `nil` to add to the finished folder.
    ///   - denied: The names of the segments that the server refuses.
    private static func download(
        into folder: String, from work: String? = nil, url: String = url, master: String = master,
        denied: Set<String> = [], change: (inout DownloadConfiguration) throws -> Void = { _ in }
    ) throws -> Outcome {
        let clock = VirtualClock()
        let transport = ScriptedTransport(clock) { url in
            let name = url.split(separator: "/").last.map { String($0.prefix { $0 != "?" }) } ?? ""
            if denied.contains(name) { return .status(403) }
            let parts = name.split(separator: ".").map(String.init)
            guard parts.count == 2 else { return .status(404) }
            switch parts[1] {
            case "m3u8" where parts[0] == "master": return .bytes(Array(master.utf8))
            case "m3u8":
                let ending = parts[0] == "subs" ? "vtt" : "ts"
                let segments = (0..<2).map { PlaylistText.Segment("\(parts[0])-\($0).\(ending)") }
                return .bytes(Array(PlaylistText(segments: segments, isEnded: true).text.utf8))
            case "vtt": return .bytes(Array("WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n".utf8))
            default: return ScriptedDownload.media
            }
        }
        var configuration = DownloadConfiguration(
            urlString: url, loading: AssetOptions(clock: clock, transport: transport))
        try change(&configuration)
        var outcome = try clock.run { [configuration] () -> Outcome in
            let task = try await DownloadTask(configuration, folder: work ?? folder)
            do {
                let result = try await task.run()
                try await task.writePlaylists()
                try await task.moveFolder(to: folder)
                return Outcome(result: result)
            } catch let error as HLSError {
                return Outcome(error: error)
            }
        }
        outcome.segments = transport.urls.compactMap { $0.split(separator: "/").last }
            .map { String($0.prefix { $0 != "?" }) }.filter { !$0.hasSuffix(".m3u8") }.sorted()
        return outcome
    }

    private static func first(_ scratch: ScratchFolder, master: String = master, _ quality: String = "180p") throws
        -> String
    {
        let folder = scratch.path + "/film"
        let outcome = try download(into: folder, from: folder + ".download", master: master) {
            $0.quality = try QualityExpression(parsing: quality)
        }
        #expect(outcome.error == nil)
        #expect(outcome.result?.segmentCount == (master == muxed ? 2 : 4))
        return folder
    }

    private static func audio(_ languages: String...) throws -> DownloadConfiguration.Choice {
        .matching(try languages.map { try QualityExpression(parsing: "lang=\($0)", for: .renditions) })
    }

    /// Returns a folder's variants (height) and renditions (type, name and presence of a URI).
    private static func contents(_ folder: String) throws -> (variants: [Int?], renditions: [String]) {
        let text = try String(contentsOfFile: folder + "/index.m3u8", encoding: .utf8)
        let playlist = try MultivariantPlaylist(parsing: text, url: "file://\(folder)/index.m3u8")
        for uri in playlist.variants.map(\.uri) + playlist.renditions.compactMap(\.uri) {
            let list = try String(contentsOfFile: folder + "/" + uri, encoding: .utf8)
            let media = try MediaPlaylist(parsing: list, url: "file://\(folder)/\(uri)")
            #expect(media.segments.count == 2 && media.segments.allSatisfy { !$0.isGap })
            for segment in media.segments {
                #expect(FileManager.default.fileExists(atPath: folder + "/" + segment.uri))
            }
        }
        let renditions = playlist.renditions.map {
            "\($0.type.rawValue) \($0.name)\($0.uri == nil ? " in the variant" : "")"
        }
        return (playlist.variants.map(\.resolution?.height), renditions)
    }

    @Test("S01: a finished folder gets other languages and subtitles without other requests")
    func languages() throws {
        let scratch = try ScratchFolder()
        let folder = try Self.first(scratch)
        #expect(try Self.contents(folder) == ([180], ["AUDIO English"]))
        var outcome = try Self.download(into: folder) { $0.subtitles = .all }
        #expect(outcome.segments == ["subs-0.vtt", "subs-1.vtt"])
        #expect(outcome.result?.resumedSegmentCount == 4)
        #expect(outcome.result?.damagedSegmentCount == 0)
        #expect(try Self.contents(folder) == ([180], ["AUDIO English", "SUBTITLES English"]))
        outcome = try Self.download(into: folder) { $0.audio = try Self.audio("de") }
        #expect(outcome.segments == ["de-0.ts", "de-1.ts"])
        #expect(
            try Self.contents(folder) == ([180], ["AUDIO English", "SUBTITLES English", "AUDIO Deutsch"]))
        outcome = try Self.download(into: folder)
        #expect(outcome.segments.isEmpty && outcome.result?.resumedSegmentCount == 6)
        #expect(
            try Self.contents(folder) == ([180], ["AUDIO English", "SUBTITLES English", "AUDIO Deutsch"]))
    }

    @Test(
        "S01: another quality becomes an additional variant after the folder's own",
        arguments: [("180p", "360p", "high"), ("360p", "180p", "low")])
    func variants(_ first: String, _ second: String, name: String) throws {
        let scratch = try ScratchFolder()
        let folder = try Self.first(scratch, first)
        var outcome = try Self.download(into: folder) { $0.quality = try QualityExpression(parsing: second) }
        #expect(outcome.segments == ["\(name)-0.ts", "\(name)-1.ts"])
        let heights = first == "180p" ? [180, 360] : [360, 180]
        #expect(try Self.contents(folder) == (heights, ["AUDIO English"]))
        for quality in [first, second] {
            outcome = try Self.download(into: folder) { $0.quality = try QualityExpression(parsing: quality) }
            #expect(outcome.segments.isEmpty && outcome.error == nil)
            #expect(try Self.contents(folder) == (heights, ["AUDIO English"]))
        }
        outcome = try Self.download(into: folder) { $0.quality = try QualityExpression(parsing: "1080p") }
        #expect(outcome.error?.code == .noEligibleVariant)
        #expect(try Self.contents(folder) == (heights, ["AUDIO English"]))
    }

    @Test("S01: a damaged file of a finished folder is loaded again")
    func damaged() throws {
        let scratch = try ScratchFolder()
        let folder = try Self.first(scratch)
        let text = try String(contentsOfFile: folder + "/index.m3u8", encoding: .utf8)
        let index = try MultivariantPlaylist(parsing: text, url: "file:///index.m3u8")
        let lane = String(try #require(index.variants.first).uri.dropLast(".m3u8".count))
        try scratch.write([1, 2, 3], to: "film/\(lane)/000001.ts")
        let outcome = try Self.download(into: folder) { $0.subtitles = .all }
        #expect(outcome.segments == ["low-1.ts", "subs-0.vtt", "subs-1.vtt"])
        #expect(outcome.result?.damagedSegmentCount == 1)
    }

    @Test("S01: finishing a folder removes unwanted variants from the disk and the journal")
    func unwanted() throws {
        let scratch = try ScratchFolder()
        let folder = scratch.path + "/film"
        var outcome = try Self.download(into: folder, from: folder + ".download", denied: ["high-1.ts", "low-1.ts"]) {
            $0.quality = try QualityExpression(parsing: "360p")
        }
        #expect(outcome.error != nil)
        _ = try Self.first(scratch)
        #expect(try Self.contents(folder) == ([180], ["AUDIO English"]))
        let folders = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("main-") }
        #expect(folders.count == 2, "\(folders)")
        outcome = try Self.download(into: folder)
        #expect(outcome.result?.damagedSegmentCount == 0)
        #expect(try Self.contents(folder) == ([180], ["AUDIO English"]))
    }

    @Test("S01: a failed addition does not change the playlists, and the next run completes it")
    func failed() throws {
        let scratch = try ScratchFolder()
        let folder = try Self.first(scratch)
        var outcome = try Self.download(into: folder, denied: ["de-1.ts"]) { $0.audio = try Self.audio("de") }
        #expect(outcome.error != nil)
        #expect(try Self.contents(folder) == ([180], ["AUDIO English"]))
        outcome = try Self.download(into: folder) { $0.audio = try Self.audio("de") }
        #expect(outcome.segments == ["de-1.ts"])
        #expect(try Self.contents(folder) == ([180], ["AUDIO English", "AUDIO Deutsch"]))
    }

    @Test("S01: audio in the variants is listed with the other languages")
    func audioInVariants() throws {
        let scratch = try ScratchFolder()
        let folder = try Self.first(scratch, master: Self.muxed)
        #expect(try Self.contents(folder) == ([180], []))
        for choice in [try Self.audio("de"), .automatic] {
            let outcome = try Self.download(into: folder, master: Self.muxed) { $0.audio = choice }
            #expect(outcome.segments == (choice == .automatic ? [] : ["de-0.ts", "de-1.ts"]))
            #expect(try Self.contents(folder) == ([180], ["AUDIO English in the variant", "AUDIO Deutsch"]))
        }
    }

    @Test("S01: a folder with audio only accepts more audio and refuses video")
    func audioOnly() throws {
        let scratch = try ScratchFolder()
        let folder = scratch.path + "/film"
        var outcome = try Self.download(into: folder, from: folder + ".download") { $0.includesVideo = false }
        #expect(outcome.segments == ["en-0.ts", "en-1.ts"])
        #expect(try Self.contents(folder) == ([nil], []))
        outcome = try Self.download(into: folder) {
            $0.includesVideo = false
            $0.audio = try Self.audio("de")
        }
        #expect(outcome.segments == ["de-0.ts", "de-1.ts"])
        #expect(try Self.contents(folder) == ([nil], ["AUDIO English in the variant", "AUDIO Deutsch"]))
        outcome = try Self.download(into: folder)
        #expect(outcome.error?.code == .unsupported)
        #expect(outcome.segments.isEmpty)
    }

    @Test("S01: an audio download adds no variant to a folder with video")
    func audioIntoVideo() throws {
        let scratch = try ScratchFolder()
        let folder = try Self.first(scratch)
        let outcome = try Self.download(into: folder) {
            $0.includesVideo = false
            $0.audio = try Self.audio("de")
        }
        #expect(outcome.segments == ["de-0.ts", "de-1.ts"])
        #expect(try Self.contents(folder) == ([180], ["AUDIO English", "AUDIO Deutsch"]))
    }

    /// A variant with two camera angles, the first of which is in the variant itself.
    private static let views = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="v",NAME="Main",DEFAULT=YES,AUTOSELECT=YES
        #EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="v",NAME="Dugout",URI="dugout.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=100000,RESOLUTION=320x180,VIDEO="v"
        low.m3u8

        """

    @Test("S01: a video rendition is downloaded, and its folder accepts no other one")
    func views() throws {
        let scratch = try ScratchFolder()
        for (preference, name) in [("name=Dugout", "dugout"), ("name=Main", "low"), (nil, "low")] {
            let folder = scratch.path + "/\(preference ?? "none")"
            let video = try preference.map { try QualityExpression(parsing: $0, for: .renditions) }
            var outcome = try Self.download(into: folder, from: folder + ".download", master: Self.views) {
                $0.video = video
            }
            #expect(outcome.segments == ["\(name)-0.ts", "\(name)-1.ts"])
            #expect(outcome.error == nil)
            for again in [video, nil] {
                outcome = try Self.download(into: folder, master: Self.views) { $0.video = again }
                #expect(outcome.segments.isEmpty && outcome.error == nil)
                #expect(try Self.contents(folder) == ([180], []))
            }
            let other = try QualityExpression(
                parsing: name == "low" ? "name=Dugout" : "name=Main", for: .renditions)
            outcome = try Self.download(into: folder, master: Self.views) { $0.video = other }
            #expect(outcome.segments.isEmpty && outcome.error?.code == .unsupported)
        }
        let unknown = try Self.download(into: scratch.path + "/x", master: Self.views) {
            $0.video = try QualityExpression(parsing: "name=Bench", for: .renditions)
        }
        #expect(unknown.error?.code == .noEligibleVariant)
        #expect(unknown.error?.cause == "no video rendition matches \"name=Bench\"")
    }

    @Test("S01: a fresh URL is checked with one segment, and another stream is refused")
    func origin() throws {
        let scratch = try ScratchFolder()
        let folder = try Self.first(scratch)
        var outcome = try Self.download(into: folder, url: Self.url + "?token=2") {
            $0.quality = try QualityExpression(parsing: "360p")
        }
        #expect(outcome.error == nil)
        #expect(outcome.segments == ["high-0.ts", "high-1.ts", "low-1.ts"])
        outcome = try Self.download(
            into: folder, url: "http://other.invalid/master.m3u8", master: Self.other)
        #expect(outcome.error?.code == .fileExists)
        #expect(outcome.segments.isEmpty)
        #expect(try Self.contents(folder) == ([180, 360], ["AUDIO English"]))
    }
}
