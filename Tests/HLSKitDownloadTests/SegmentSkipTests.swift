import Foundation
import HLSKitAsset
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitSelection
import HLSKitSimulation
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitDownload

@Suite("P05: Downloads leave out skipped segments", .timeLimit(.minutes(10)))
struct SegmentSkipTests {
    private func segment(
        _ sequence: Int, from start: Double, to end: Double, lane: String = "a"
    ) -> DownloadJournal.Segment {
        DownloadJournal.Segment(
            lane: lane, sequence: sequence, name: "\(sequence).ts", start: Int64(start * 1e6),
            duration: Int64((end - start) * 1e6))
    }

    private func skipped(_ ranges: [(Double, Double)]) -> SkippedTime {
        var skipped = SkippedTime()
        for (start, end) in ranges { skipped.insert(.seconds(start)..<(.seconds(end))) }
        return skipped
    }

    // MARK: Skipped time

    @Test("ranges that touch are one range, in any order")
    func merged() {
        let ranges = skipped([(20, 24), (4, 8), (8.01, 12), (24, 28), (10, 11)]).ranges
        #expect(ranges == [.seconds(4)..<(.seconds(12)), .seconds(20)..<(.seconds(28))])
    }

    @Test(
        "later times move forward, and skipped times become the time at which the rest continues",
        arguments: [(0, 0), (4, 4), (6, 4), (12, 4), (15, 7), (20, 12), (27, 12), (30, 14)] as [(Double, Double)])
    func times(time: Double, expected: Double) {
        #expect(skipped([(4, 12), (20, 28)]).fileTime(of: .seconds(time)) == .seconds(expected))
    }

    struct Piece: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let range: (Double, Double)
        /// The start, the number of skipped ranges before, and the limits of each part in the file.
        let parts: [(start: Double, number: Int, from: Double?, until: Double?)]
    }

    @Test(
        "a segment moves to its place in the file, and each part of it that is left has its limits",
        arguments: [
            Piece(testDescription: "before", range: (0, 4), parts: [(0, 0, nil, nil)]),
            Piece(testDescription: "skipped", range: (4, 8), parts: []),
            Piece(testDescription: "skipped, with rounded ends", range: (3.99, 12.03), parts: []),
            Piece(testDescription: "between", range: (12, 16), parts: [(4, 1, nil, nil)]),
            Piece(testDescription: "after", range: (28, 32), parts: [(12, 2, nil, nil)]),
            Piece(testDescription: "its end is skipped", range: (2, 6), parts: [(2, 0, nil, 4)]),
            Piece(testDescription: "its start is skipped", range: (10, 14), parts: [(2, 1, 4, nil)]),
            Piece(
                testDescription: "its middle is skipped", range: (2, 14), parts: [(2, 0, nil, 4), (-6, 1, 4, nil)]),
            Piece(testDescription: "short, before a range", range: (3.97, 4), parts: [(3.97, 0, nil, nil)]),
            Piece(testDescription: "without a duration, after a range", range: (12, 12), parts: [(4, 1, nil, nil)]),
            Piece(testDescription: "without a duration, in a range", range: (5, 5), parts: []),
        ])
    func parts(piece: Piece) {
        let parts = skipped([(4, 12), (20, 28)]).fileSegments(
            of: [segment(7, from: piece.range.0, to: piece.range.1)], in: TimeWindow())
        #expect(parts.map(\.start) == piece.parts.map { Int64($0.start * 1e6) })
        #expect(parts.map(\.discontinuity) == piece.parts.map(\.number))
        #expect(parts.map { $0.limits?.start } == piece.parts.map { $0.from.map { .seconds($0) } })
        #expect(parts.map { $0.limits?.end } == piece.parts.map { $0.until.map { .seconds($0) } })
    }

    @Test("chapters of skipped time are gone, and later ones move forward")
    func chapters() {
        var metadata = FileMetadata()
        for (start, end, title) in [(0.0, nil, "a"), (4, 8, "ad"), (12, nil, "b"), (18, 30, "c")]
            as [(Double, Double?, String)]
        {
            metadata.add(.init(start: .seconds(start), end: end.map { .seconds($0) }, title: title))
        }
        let chapters = skipped([(4, 12), (20, 28)]).fileMetadata(of: metadata).chapters
        #expect(chapters.map(\.title) == ["a", "b", "c"])
        #expect(chapters.map(\.start) == [.zero, .seconds(4), .seconds(10)])
        #expect(chapters.map(\.end) == [nil, nil, .seconds(14)])
    }

    // MARK: Downloads

    /// A server of the sample with a file for each segment of 4 s.
    private struct Server {
        let clock = VirtualClock()
        let folder: ScratchFolder
        let asked = Recorder<String>()
        let transport: SimulatedTransport

        /// - Parameter tags: The tags before the segment with a number, in both playlists.
        init(tags: [Int: String] = [:]) throws {
            folder = try ScratchFolder()
            let files = try CutStream.files()
            let link = NetworkTrace(constant: .init(bitsPerSecond: 4e6, latency: .milliseconds(20)))
            transport = SimulatedTransport(over: link, clock: clock) { [asked] request in
                let name = request.urlString.split(separator: "/").last.map(String.init) ?? ""
                guard let body = files[name] else { return .notFound }
                guard name.hasSuffix(".m3u8") else {
                    asked.append(name, at: .zero)
                    return SimulatedResponse(contentType: "video/mp4", body: body)
                }
                var number = 0
                var text = ""
                for line in String(decoding: body, as: UTF8.self).split(separator: "\n") {
                    if line.hasPrefix("#EXTINF") {
                        text += tags[number] ?? ""
                        number += 1
                    }
                    text += line + "\n"
                }
                return .playlist(text)
            }
        }

        func task(
            _ rule: SkipRule?, _ change: (inout DownloadConfiguration) -> Void = { _ in }
        ) async throws -> DownloadTask {
            var configuration = DownloadConfiguration(
                urlString: "https://sample.invalid/master.m3u8",
                loading: AssetOptions(clock: clock, transport: transport))
            configuration.skipRule = rule
            change(&configuration)
            return try await DownloadTask(configuration, folder: folder.path + "/d")
        }
    }

    private static func ads() throws -> SkipRule { try SkipRule(segmentURIs: ["[va][34]\\.m4s"]) }
    /// The audio has an eleventh segment of 21 ms.
    private static let kept = ([0, 1, 2, 5, 6, 7, 8, 9].flatMap { ["a\($0).m4s", "v\($0).m4s"] } + ["a10.m4s"]).sorted()

    private func media(_ server: Server) -> [String] {
        server.asked.elements.filter { !$0.contains("init") }.sorted()
    }

    @Test("skipped segments are not requested, and the file is the same if it is written meanwhile")
    func file() throws {
        var files: [Data] = []
        for meanwhile in [false, true] {
            let server = try Server()
            let path = server.folder.path + "/a.mp4"
            let (result, length) = try server.clock.run {
                let task = try await server.task(Self.ads()) { if meanwhile { $0.fileFormat = .mp4 } }
                let result = try await task.run()
                return (result, try await task.write(to: path, format: .mp4).duration)
            }
            #expect(media(server) == Self.kept)
            #expect(result.skippedDuration == .seconds(8) && result.gaps.isEmpty && result.segmentCount == 17)
            #expect(abs(length - .seconds(32)) < .milliseconds(50), "\(length)")
            files.append(try Data(contentsOf: URL(fileURLWithPath: path)))
        }
        #expect(files[0] == files[1])
    }

    @Test("a break between markers is left out, and a start inside it is its end")
    func markers() throws {
        func download(_ rule: SkipRule?, from start: Int) throws -> (media: [String], length: Duration) {
            let server = try Server(tags: [3: "#EXT-X-CUE-OUT:8\n", 5: "#EXT-X-CUE-IN\n"])
            let length = try server.clock.run {
                let task = try await server.task(rule) {
                    $0.fileFormat = .mp4
                    $0.startPosition = .time(.seconds(start))
                    $0.endPosition = .time(.seconds(30))
                }
                _ = try await task.run()
                return try await task.write(to: server.folder.path + "/a.mp4", format: .mp4).duration
            }
            return (media(server), length)
        }
        let skipping = try download(SkipRule(dateRanges: ["EXT-X-CUE-OUT"]), from: 14)
        let later = try download(nil, from: 20)
        #expect(skipping.media == [5, 6, 7].flatMap { ["a\($0).m4s", "v\($0).m4s"] }.sorted())
        #expect(skipping.length == later.length)
    }

    @Test("another run without the rule loads the rest, and the folder's playlists list what is stored")
    func another() throws {
        let server = try Server()
        try server.clock.run {
            let first = try await server.task(Self.ads())
            _ = try await first.run()
            try await first.writePlaylists()
            let list = try folderPlaylist(server)
            #expect(list.count { $0.hasPrefix("#EXTINF") } == 8)
            #expect(list.count { $0 == "#EXT-X-DISCONTINUITY" } == 1 && !list.contains("#EXT-X-GAP"))
        }
        #expect(media(server) == Self.kept)
        try server.clock.run {
            let second = try await server.task(nil)
            let result = try await second.run()
            #expect(result.skippedDuration == .zero && result.segmentCount == 21 && result.resumedSegmentCount == 17)
            try await second.writePlaylists()
            let list = try folderPlaylist(server)
            #expect(list.count { $0.hasPrefix("#EXTINF") } == 10 && !list.contains("#EXT-X-DISCONTINUITY"))
        }
        #expect(media(server).count == 21)
    }

    @Test("in a live stream, a break is left out from its first marker on, until its last one is listed")
    func live() throws {
        let (clock, folder) = (VirtualClock(), try ScratchFolder())
        let asked = Recorder<Int>()
        let link = NetworkTrace(constant: .init(bitsPerSecond: 1e7, latency: .milliseconds(10)))
        let transport = SimulatedTransport(over: link, clock: clock) { request in
            let name = request.urlString.split(separator: "/").last.map(String.init) ?? ""
            if let number = Int(name.dropLast(3)) {
                asked.append(number, at: .zero)
                return SimulatedResponse(body: (0..<3 * 188).map { $0 % 188 == 0 ? 0x47 : 0 })
            }
            let last = min(14, 3 + Int(request.time / .seconds(6)))
            let first = max(0, last - 4)
            var text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:\(first)\n"
            for number in first...last {
                if number == 5 { text += "#EXT-X-CUE-OUT\n" }
                if number == 10 { text += "#EXT-X-CUE-IN\n" }
                text += "#EXTINF:6,\n\(number).ts\n"
            }
            return .playlist(last == 14 ? text + "#EXT-X-ENDLIST\n" : text)
        }
        var configuration = DownloadConfiguration(
            urlString: "https://sample.invalid/a.m3u8", loading: AssetOptions(clock: clock, transport: transport))
        configuration.skipRule = try SkipRule(dateRanges: ["EXT-X-CUE-OUT"])
        let result = try clock.run { [configuration] in
            try await DownloadTask(configuration, folder: folder.path + "/d").run()
        }
        #expect(asked.elements.sorted() == [0, 1, 2, 3, 4, 10, 11, 12, 13, 14])
        #expect(result.skippedDuration == .seconds(30) && result.gaps.isEmpty)
    }

    @Test("a file that is written while another run loads skipped segments has them")
    func otherRule() throws {
        let expected = try Server()
        let path = expected.folder.path + "/a.mp4"
        try expected.clock.run {
            let task = try await expected.task(nil) { $0.fileFormat = .mp4 }
            _ = try await task.run()
            _ = try await task.write(to: path, format: .mp4)
        }
        let server = try Server()
        try server.clock.run {
            _ = try await server.task(Self.ads()).run()
        }
        try server.clock.run {
            let second = try await server.task(nil) { $0.fileFormat = .mp4 }
            _ = try await second.run()
            _ = try await second.write(to: server.folder.path + "/a.mp4", format: .mp4)
        }
        let files = try [path, server.folder.path + "/a.mp4"].map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        #expect(files[0] == files[1])
    }

    private func folderPlaylist(_ server: Server) throws -> [String] {
        let folder = server.folder.path + "/d"
        let lists = try FileManager.default.contentsOfDirectory(atPath: folder).filter {
            $0.hasPrefix("main") && $0.hasSuffix(".m3u8")
        }
        let path = folder + "/" + (try #require(lists.first))
        return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
    }
}
