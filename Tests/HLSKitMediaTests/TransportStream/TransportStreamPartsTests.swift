import Foundation
import Testing

@testable import HLSKitMedia

@Suite("Parts of a transport stream") struct TransportStreamPartsTests {
    private static func file() throws -> [UInt8] {
        let url = MP4Fixture.folder.deletingLastPathComponent().appendingPathComponent("ts-languages.ts")
        return [UInt8](try Data(contentsOf: url))
    }

    private static func demux(_ bytes: [UInt8]) throws -> (tracks: [MediaTrack], samples: [MediaSample]) {
        var demuxer = TransportStreamDemuxer()
        var events: [DemuxerEvent] = []
        try demuxer.append(bytes[...], to: &events)
        try demuxer.finish(to: &events)
        var result: (tracks: [MediaTrack], samples: [MediaSample]) = ([], [])
        for event in events {
            if case .tracks(let tracks) = event { result.tracks = tracks }
            if case .sample(let sample) = event { result.samples.append(sample) }
        }
        return result
    }

    @Test("a part that starts at a sync point has its samples, after the tables")
    func part() throws {
        let file = try Self.file()
        let whole = try Self.demux(file)
        let video = try #require(whole.tracks.first { $0.mediaType == .video })
        var scanner = TransportStreamScanner(pid: video.id, start: 0, stride: 188, takesAll: false)
        let points = scanner.append(file)
        #expect(points.count == 200)
        let syncs = points.filter(\.isRandomAccess)
        #expect(syncs.count == 10)
        let head = Array(file.prefix(8192))
        let tables = try #require(TransportStreamPreamble(head: head, stride: 188, holding: [video.id]))
        let point = try #require(syncs.dropFirst(4).first)
        let part = try Self.demux(tables.packets(without: []) + file[point.offset...])
        let frames = part.samples.filter { $0.trackID == video.id }
        #expect(frames.count == 120)
        #expect(frames.first?.pts == point.pts && frames.first?.isSync == true)
        #expect(part.tracks.map(\.id) == whole.tracks.map(\.id))
    }

    @Test("sync points are found from any position, with bytes in any pieces", arguments: [1, 100, 188, 4000])
    func places(_ size: Int) throws {
        let file = try Self.file()
        let video = try #require(try Self.demux(file).tracks.first { $0.mediaType == .video })
        var first = TransportStreamScanner(pid: video.id, start: 0, stride: 188, takesAll: false)
        let all = first.append(file)
        let start = 50_003
        var scanner = TransportStreamScanner(pid: video.id, start: start, stride: 188, takesAll: false)
        var found: [TransportStreamScanner.Point] = []
        var offset = start
        while offset < 90_000 {
            found += scanner.append(Array(file[offset..<offset + size]))
            offset += size
        }
        #expect(!found.isEmpty)
        #expect(found == all.filter { $0.offset >= start && $0.offset <= found.last?.offset ?? 0 })
    }

    @Test("an omitted track is in neither tables nor packets", arguments: [1, 187, 188, 5000])
    func omitted(_ size: Int) throws {
        let file = try Self.file()
        let whole = try Self.demux(file)
        let audio = whole.tracks.filter { $0.mediaType == .audio }.map(\.id)
        #expect(audio.count == 2)
        let tables = try #require(TransportStreamPreamble(head: file, stride: 188, holding: audio))
        var blotter = TransportStreamBlotter([audio[0], tables.mapPID], stride: 188)
        var bytes = tables.packets(without: [audio[0]])
        var rest = file[...]
        while !rest.isEmpty {
            bytes += blotter.append(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        bytes += blotter.finish()
        let part = try Self.demux(bytes)
        #expect(part.tracks.map(\.id) == whole.tracks.map(\.id).filter { $0 != audio[0] })
        #expect(part.tracks.last?.language == "deu")
        let expected = whole.samples.filter { $0.trackID != audio[0] }
        #expect(part.samples.map(\.pts).sorted() == expected.map(\.pts).sorted())
    }

    @Test("bytes that are not a transport stream have no tables and no sync points")
    func garbage() {
        let bytes = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
        #expect(TransportStreamPreamble(head: bytes, stride: 188, holding: []) == nil)
        var scanner = TransportStreamScanner(pid: 256, start: 0, stride: 188, takesAll: true)
        #expect(scanner.append(bytes).isEmpty)
    }
}
