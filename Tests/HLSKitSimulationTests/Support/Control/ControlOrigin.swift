import Foundation
import HLSKitLoading
import HLSKitSimulation
import HLSKitTime
import TestSupport

/// A server with several kinds of streams for a random user.
struct ControlOrigin: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        /// 40 s with audio in two languages, a missing third language, and subtitles in two.
        case film
        case long
        case short
        /// A sliding window of 20 s.
        case live
        /// One in six responses is a failure.
        case faulty
        case none
    }

    private let seed: UInt64
    private let film = SyntheticStream(
        bitRates: [150_000, 400_000, 900_000], segmentDuration: .seconds(4), segmentCount: 10)
    private let long = SyntheticStream(
        bitRates: [150_000, 400_000, 900_000, 2_000_000], segmentDuration: .seconds(6), segmentCount: 100)
    private let short = SyntheticStream(bitRates: [200_000], segmentDuration: .seconds(2), segmentCount: 3)
    private let live = SyntheticStream(
        bitRates: [150_000, 400_000], segmentDuration: .seconds(4), segmentCount: 1_000_000, liveWindow: 5)
    private let audio: SampleMedia.Rendition
    private let subtitles: [[UInt8]]

    init(seed: UInt64) throws {
        self.seed = seed
        audio = try SampleMedia.rendition("audio-en")
        subtitles = try (0..<SampleMedia.segmentCount).map { index in
            Array(try Data(contentsOf: URL(fileURLWithPath: "\(SampleMedia.folder)/subtitles-en-\(index).vtt")))
        }
    }

    static func url(_ kind: Kind) -> String { "https://\(kind.rawValue).invalid/index.m3u8" }

    func response(to request: SimulatedRequest) -> SimulatedResponse {
        let parts = request.urlString.dropFirst("https://".count).split(separator: "/", maxSplits: 1)
        guard parts.count == 2, let kind = Kind(rawValue: String(parts[0].dropLast(".invalid".count))) else {
            return .notFound
        }
        let path = String(parts[1])
        switch kind {
        case .film: return filmResponse(path, request)
        case .long: return Self.response(of: long, path, request)
        case .short: return Self.response(of: short, path, request)
        case .live: return Self.response(of: live, path, request)
        case .faulty: return fault(request) ?? filmResponse(path, request)
        case .none: return .notFound
        }
    }

    private static func response(
        of stream: SyntheticStream, _ path: String, _ request: SimulatedRequest
    ) -> SimulatedResponse {
        var inner = request
        inner.urlString = "https://synthetic.invalid/" + path
        return stream.response(to: inner)
    }

    // MARK: The film

    private static let master = """
        #EXTM3U
        #EXT-X-VERSION:7
        #EXT-X-INDEPENDENT-SEGMENTS
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="sound-en.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Français",LANGUAGE="fr",AUTOSELECT=YES,URI="sound-fr.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Deutsch",LANGUAGE="de",AUTOSELECT=YES,URI="missing.m3u8"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",AUTOSELECT=YES,URI="text-en.m3u8"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="Français",LANGUAGE="fr",AUTOSELECT=YES,URI="text-fr.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=250000,CODECS="avc1.42C00A,mp4a.40.2",RESOLUTION=64x36,AUDIO="a",SUBTITLES="s"
        0/index.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS="avc1.42C00A,mp4a.40.2",RESOLUTION=128x72,AUDIO="a",SUBTITLES="s"
        1/index.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=1000000,CODECS="avc1.42C00A,mp4a.40.2",RESOLUTION=256x144,AUDIO="a",SUBTITLES="s"
        2/index.m3u8

        """

    private func filmResponse(_ path: String, _ request: SimulatedRequest) -> SimulatedResponse {
        // audio-en.m3u8, audio-en-3.m4s, audio-init.mp4; text-en.m3u8, text-en-3.vtt.
        let words = path.split(whereSeparator: { "-.".contains($0) })
        switch words.first {
        case "index": return .playlist(Self.master)
        case "sound" where path == "sound-init.mp4": return SimulatedResponse(body: audio.initializationSection)
        case "sound" where words.last == "m3u8": return .playlist(audioPlaylist(words[1]))
        case "text" where words.last == "m3u8": return .playlist(textPlaylist(words[1]))
        case "sound": return segment(of: audio.segments, words)
        case "text": return segment(of: subtitles, words)
        default: return Self.response(of: film, path, request)
        }
    }

    private func segment(of segments: [[UInt8]], _ words: [Substring]) -> SimulatedResponse {
        guard words.count == 4, let index = Int(words[2]), segments.indices.contains(index) else { return .notFound }
        return SimulatedResponse(body: segments[index])
    }

    private func audioPlaylist(_ language: Substring) -> String {
        var text = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:4\n#EXT-X-PLAYLIST-TYPE:VOD\n"
        text += "#EXT-X-MAP:URI=\"sound-init.mp4\"\n"
        for (index, duration) in audio.durations.enumerated() {
            text += "#EXTINF:\(duration),\nsound-\(language)-\(index).m4s\n"
        }
        return text + "#EXT-X-ENDLIST\n"
    }

    private func textPlaylist(_ language: Substring) -> String {
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-PLAYLIST-TYPE:VOD\n"
        for index in subtitles.indices { text += "#EXTINF:4,\ntext-\(language)-\(index).vtt\n" }
        return text + "#EXT-X-ENDLIST\n"
    }

    // MARK: Faults

    private func fault(_ request: SimulatedRequest) -> SimulatedResponse? {
        var hash = seed &* 31 &+ UInt64(request.attempt)
        for byte in request.urlString.utf8 { hash = hash &* 131 &+ UInt64(byte) }
        var dice = SplitMix64(seed: hash)
        guard dice.next() % 6 == 0 else { return nil }
        switch dice.next() % 6 {
        case 0: return .notFound
        case 1: return .status(503, retryAfter: 1)
        case 2: return .failure(.connectionLost)
        case 3: return .failure(.timedOut)
        case 4: return SimulatedResponse(body: Array("<html>sorry</html>".utf8))
        default:
            var response = filmResponse(
                String(request.urlString.split(separator: "/", maxSplits: 2).last ?? ""), request)
            response.ending = .cut(after: response.body.count / 2)
            return response
        }
    }

    // MARK: Links

    /// Returns a link that is fast and slow in turn, with occasional tunnels. Each seed gives a different link.
    static func trace(seed: UInt64) throws -> NetworkTrace {
        var random = SplitMix64(seed: seed &+ 7)
        let rows = (0..<20).map { _ in
            let rate = [8000, 3000, 1200, 500, 30][Int(random.next() % 5)]
            let length = rate < 100 ? 2000 + random.next() % 8000 : 5000 + random.next() % 40_000
            return "\(length),\(rate),\(20 + random.next() % 200)"
        }
        return try NetworkTrace(parsing: rows.joined(separator: "\n").utf8)
    }
}
