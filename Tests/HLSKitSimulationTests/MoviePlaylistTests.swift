import HLSKitCore
import Testing

@testable import HLSKitSimulation

@Suite("Movies from playlists")
struct MoviePlaylistTests {
    private func media(_ segments: [(duration: String, tags: String)], isEnded: Bool = true) throws -> MediaPlaylist {
        var text = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:6\n"
        for (index, segment) in segments.enumerated() {
            text += "\(segment.tags)#EXTINF:\(segment.duration),\n\(index).ts\n"
        }
        if isEnded { text += "#EXT-X-ENDLIST\n" }
        return try MediaPlaylist(parsing: Array(text.utf8), url: "https://host/a/index.m3u8")
    }

    private func multivariant(_ lines: [String]) throws -> MultivariantPlaylist {
        var text = "#EXTM3U\n"
        for (index, line) in lines.enumerated() { text += "#EXT-X-STREAM-INF:\(line)\n\(index).m3u8\n" }
        return try MultivariantPlaylist(parsing: Array(text.utf8), url: "https://host/main.m3u8")
    }

    @Test("byte ranges and bit rates give sizes, averages fill gaps, and the ladder ascends")
    func sizes() throws {
        let title = try multivariant([
            "BANDWIDTH=3000000,AVERAGE-BANDWIDTH=2000000", "BANDWIDTH=900000",
            "BANDWIDTH=500000,AVERAGE-BANDWIDTH=400000",
        ])
        let movie = try MovieFile(
            title,
            media: [
                media([("4", "#EXT-X-BYTERANGE:1000000@0\n"), ("2", "#EXT-X-BYTERANGE:600000@1000000\n")]),
                media([("4", "#EXT-X-BITRATE:800\n"), ("2", "#EXT-X-BITRATE:500\n")]), media([("4", ""), ("2", "")]),
            ])
        #expect(movie.averageBitRates == [400_000, 700_000, 2_000_000])
        #expect(movie.peakBitRates == [500_000, 900_000, 3_000_000])
        #expect((0..<2).map { movie.bitCount(ofSegment: $0, variant: 2) } == [8_000_000, 4_800_000])
        #expect((0..<2).map { movie.bitCount(ofSegment: $0, variant: 1) } == [3_200_000, 1_000_000])
        #expect((0..<2).map { movie.bitCount(ofSegment: $0, variant: 0) } == [1_600_000, 800_000])
        #expect((0..<2).map { movie.duration(ofSegment: $0) } == [.seconds(4), .seconds(2)])
        #expect(movie.duration == .seconds(6))
        #expect(movie.hasUnevenSegments)
    }

    @Test("a variant with other segments is mapped to the first one's segments")
    func otherCuts() throws {
        let title = try multivariant(["BANDWIDTH=1000000,AVERAGE-BANDWIDTH=800000", "BANDWIDTH=2000000"])
        let movie = try MovieFile(
            title,
            media: [
                media([("4", ""), ("4", "")]),
                media([("2", "#EXT-X-BYTERANGE:100000@0\n"), ("6", "#EXT-X-BYTERANGE:900000@100000\n")]),
            ])
        #expect(abs(movie.bitCount(ofSegment: 0, variant: 1) - 8 * 400_000) < 1)
        #expect(abs(movie.bitCount(ofSegment: 1, variant: 1) - 8 * 600_000) < 1)
    }

    @Test("audio-only variants, those without a playlist, and equal rates are omitted")
    func omitted() throws {
        let title = try multivariant([
            "BANDWIDTH=1000000,RESOLUTION=640x360", "BANDWIDTH=100000", "BANDWIDTH=2000000,RESOLUTION=640x360",
            "BANDWIDTH=1000000,RESOLUTION=640x360",
        ])
        let one = try media([("4", "")])
        let movie = try MovieFile(title, media: [one, one, nil, one])
        #expect(movie.averageBitRates == [1_000_000])
    }

    @Test("a media playlist with declared sizes is a movie with one variant")
    func single() throws {
        let movie = try MovieFile(media([("4", "#EXT-X-BITRATE:1000\n"), ("4", "")]))
        #expect(movie.averageBitRates == [1_000_000])
        #expect(movie.segmentCount == 2)
    }

    @Test("a playlist that cannot be simulated throws an error")
    func refusals() throws {
        let title = try multivariant(["BANDWIDTH=1000000"])
        let live = try media([("4", "")], isEnded: false)
        #expect(throws: HLSError.self) { try MovieFile(title, media: [live]) }
        #expect(throws: HLSError.self) { try MovieFile(title, media: [nil]) }
        #expect(throws: HLSError.self) { try MovieFile(live) }
        #expect(throws: HLSError.self) { try MovieFile(media([("4", "")])) }
    }

    @Test("a movie with segments of several durations plays to its end with those durations")
    func session() throws {
        let movie = try MovieFile(media((0..<10).map { ($0 % 2 == 0 ? "4" : "1.5", "#EXT-X-BITRATE:1000\n") }))
        var run = try SimulationRun(trace: NetworkTrace(parsing: "1000,3000,20\n".utf8), movie: movie)
        let session = try run.run()
        #expect(session.segments.count == 10)
        #expect(session.stalls.isEmpty)
        #expect(abs(session.end - session.starts[0] - 27_500) < 1)
        #expect(session.log.contains(#""duration_ms":1500}"#))
    }
}
