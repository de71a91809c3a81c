import Foundation
import HLSKitAsset
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

@testable import HLSKitDownload

@Suite("Downloads of streams with several audio tracks inside their segments", .timeLimit(.minutes(10)))
struct DownloadAudioTests {
    private static let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:20\n#EXTINF:20,\nts-languages.ts\n#EXT-X-ENDLIST\n"
    private static let main = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000000\na.m3u8\n"

    /// Returns the languages of the audio in the downloaded file, in order.
    private static func download(_ path: String, _ audio: [String]) throws -> [String?] {
        let preferences = try audio.map { try QualityExpression(parsing: $0, for: .renditions) }
        return try download(path, preferences.isEmpty ? .automatic : .matching(preferences))
    }

    private static func download(_ path: String, _ audio: DownloadConfiguration.Choice) throws -> [String?] {
        let clock = VirtualClock()
        let folder = try ScratchFolder()
        let transport = SimulatedTransport(over: try NetworkTrace(parsing: "1000,50000,20\n".utf8), clock: clock) {
            request in
            let name = request.urlString.split(separator: "/").last.map(String.init) ?? ""
            switch name {
            case "a.m3u8": return SimulatedResponse(body: Array(playlist.utf8))
            case "main.m3u8": return SimulatedResponse(body: Array(main.utf8))
            default:
                let file = URL(fileURLWithPath: "\(SampleMedia.fixtures)/media/\(name)")
                guard let data = try? Data(contentsOf: file) else { return .notFound }
                return SimulatedResponse(body: Array(data))
            }
        }
        var configuration = DownloadConfiguration(
            urlString: "https://sample.invalid/\(path)",
            loading: AssetOptions(clock: clock, transport: transport))
        configuration.audio = audio
        let file = try clock.run { [configuration] in
            let task = try await DownloadTask(configuration, folder: folder.path + "/d")
            _ = try await task.run()
            return try await task.write(to: folder.path + "/a.mp4", format: .mp4).paths[0]
        }
        return try languages(ofAudioIn: file)
    }

    private static func languages(ofAudioIn path: String) throws -> [String?] {
        let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        var scanner = MP4HeaderScanner()
        let found = try scanner.append(bytes[...])
        let header = try found ?? scanner.finish()
        let section = try MP4InitializationSection(parsing: header.bytes[...])
        #expect(section.tracks.count { $0.mediaType == .video } == 1)
        return section.tracks.filter { $0.mediaType == .audio }.map(\.language)
    }

    @Test(
        "I01: a file gets the preferred audio tracks, in the order of the preferences",
        arguments: [
            ([], ["eng"]), (["lang=en"], ["eng"]), (["lang=de"], ["deu"]), (["lang=de", "lang=en"], ["deu", "eng"]),
        ] as [([String], [String])], ["a.m3u8", "main.m3u8"])
    func audio(_ test: ([String], [String]), path: String) throws {
        let languages = try Self.download(path, test.0)
        #expect(languages.map { $0.map(LanguageTag.shortest) } == test.1.map(LanguageTag.shortest))
    }

    @Test("I06: a file gets all audio tracks inside the segments, each once", arguments: ["a.m3u8", "main.m3u8"])
    func allAudio(path: String) throws {
        let languages = try Self.download(path, .all)
        #expect(languages.map { $0.map(LanguageTag.shortest) } == ["en", "de"])
    }

    @Test(
        "the user's languages select the saved rendition as they select the played one",
        arguments: [
            (["de"], "audio-de"), (["de-AT", "en"], "audio-de"), (["fr"], "audio-en"), ([], "audio-en"),
            (nil, "audio-en"),
        ] as [([String]?, String)])
    func preferredLanguages(_ languages: [String]?, saved: String) throws {
        let server = try SampleServer()
        let lanes = try server.clock.run {
            var configuration = try await server.task().configuration
            configuration.quality = try QualityExpression(parsing: "best")
            configuration.preferredLanguages = languages
            var parser = PlaylistParser(url: SampleServer.url)
            try parser.append(
                Array(
                    """
                    #EXTM3U
                    #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="audio-en.m3u8"
                    #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="D",LANGUAGE="de",AUTOSELECT=YES,URI="audio-de.m3u8"
                    #EXT-X-STREAM-INF:BANDWIDTH=100000,CODECS="avc1.4d400d,mp4a.40.2",AUDIO="a"
                    v.m3u8

                    """.utf8))
            guard case .multivariant(let playlist) = try parser.finish() else { throw CancellationError() }
            return try DownloadSelection(configuration, of: playlist).entries.filter { $0.lane.kind == .audio }.map(
                \.url)
        }
        #expect(lanes.count == 1 && lanes[0].contains(saved), "\(lanes)")
    }

    @Test(
        "a file format that cannot hold the declared audio is refused before audio is loaded",
        arguments: [
            (#"CODECS="mp4a.40.2""#, OutputFormat.mp3, false), (#"CODECS="mp4a.40.2""#, .aac, true),
            (#"CODECS="avc1.4d400d,mp4a.40.2",AUDIO="a""#, .mp3, false), (#"CODECS="ec-3""#, .aac, false),
            (#"CODECS="avc1.4d400d""#, .mp3, true), (#"AUDIO="a""#, .mp3, true),
        ])
    func format(_ attributes: String, _ format: OutputFormat, isTried: Bool) throws {
        let clock = VirtualClock()
        let transport = ScriptedTransport(clock) { url in
            switch url.split(separator: "/").last {
            case "main.m3u8":
                let rendition =
                    attributes.contains("AUDIO=")
                    ? "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"E\",DEFAULT=YES,AUTOSELECT=YES,URI=\"a.m3u8\"\n"
                    : ""
                return .bytes(
                    Array("#EXTM3U\n\(rendition)#EXT-X-STREAM-INF:BANDWIDTH=100000,\(attributes)\nv.m3u8\n".utf8))
            case "a.m3u8", "v.m3u8":
                return .bytes(Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n1.ts\n#EXT-X-ENDLIST\n".utf8))
            default: return ScriptedDownload.media
            }
        }
        let outcome = try ScriptedDownload.run("http://a.example/main.m3u8", over: transport, clock) {
            $0.includesVideo = false
            $0.fileFormat = format
        }
        #expect(outcome.files(of: "a.example", endingIn: ".ts").isEmpty != isTried)
        if !isTried {
            #expect(outcome.error?.code == .unsupported)
            #expect(outcome.error?.cause.hasPrefix("\(format.rawValue) cannot hold ") == true)
        }
    }

    @Test(
        "Q05: a segment range uses media sequence numbers, not missing dates",
        arguments: [
            (StartPosition.segment(2), EndPosition.segment(3), 8), (.segment(-5), .segment(0), 4),
            (.time(.seconds(4)), .segment(99), 36), (.segment(8), .automatic, 8),
        ] as [(StartPosition, EndPosition, Double)])
    func ranges(_ start: StartPosition, _ end: EndPosition, length: Double) throws {
        let server = try SampleServer()
        let duration = try server.clock.run {
            let task = try await server.task {
                $0.startPosition = start
                $0.endPosition = end
            }
            return try await task.run().duration
        }
        #expect(abs(duration.seconds - length) < 0.1, "\(duration)")
        let error = #expect(throws: HLSError.self) {
            let server = try SampleServer()
            try server.clock.run {
                let task = try await server.task { $0.endPosition = .date(Date(timeIntervalSince1970: 1_800_000_000)) }
                _ = try await task.run()
            }
        }
        #expect(error?.code == .notAvailable)
    }

    @Test("a preference that no track matches fails", arguments: ["a.m3u8", "main.m3u8"])
    func unmatched(path: String) throws {
        let error = #expect(throws: HLSError.self) { try Self.download(path, ["lang=fr"]) }
        #expect(error?.code == .noEligibleVariant)
        #expect(error?.detail == "available: Audio en (en), Audio de (de)")
    }
}
