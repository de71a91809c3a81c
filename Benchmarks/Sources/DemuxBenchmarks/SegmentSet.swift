import Foundation
import HLSKitMedia
import HLSKitPlaylist

struct SegmentSet {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private(set) var segments: [[UInt8]] = []
    private(set) var map: [UInt8] = []
    var byteCount: Int { segments.reduce(0) { $0 + $1.count } }

    private static let pieceByteCount = 64 << 10

    init(at path: String) throws {
        var file = URL(filePath: path)
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
            file.append(path: "top.m3u8")
        }
        let playlist: MediaPlaylist
        (file, playlist) = try Self.mediaPlaylist(file)
        let folder = file.deletingLastPathComponent()
        for segment in playlist.segments {
            guard segment.byteRange == nil, segment.map == playlist.segments.first?.map else {
                throw Failure(description: "segments must be whole files with one map")
            }
            segments.append([UInt8](try Data(contentsOf: folder.appending(path: segment.uri))))
        }
        if let section = playlist.segments.first?.map {
            map = [UInt8](try Data(contentsOf: folder.appending(path: section.uri)))
        }
    }

    private static func mediaPlaylist(_ file: URL) throws -> (URL, MediaPlaylist) {
        switch try Playlist(parsing: [UInt8](Data(contentsOf: file)), url: "") {
        case .media(let playlist): return (file, playlist)
        case .multivariant(let multivariant):
            guard let best = multivariant.variants.max(by: { $0.bandwidth < $1.bandwidth }) else {
                throw Failure(description: "\(file.path) has no variants")
            }
            return try mediaPlaylist(file.deletingLastPathComponent().appending(path: best.uri))
        }
    }

    func demux() throws -> Int {
        let section = map.isEmpty ? nil : try MP4InitializationSection(parsing: map[...])
        var count = 0
        for segment in segments {
            if let section {
                count += try Self.demux(FragmentedMP4Demuxer(initialization: section), segment)
            } else {
                count += try Self.demux(TransportStreamDemuxer(), segment)
            }
        }
        return count
    }

    private static func demux(_ demuxer: consuming some Demuxer, _ bytes: [UInt8]) throws(MediaError) -> Int {
        var events: [DemuxerEvent] = []
        var count = 0
        for start in stride(from: 0, to: bytes.count, by: pieceByteCount) {
            try demuxer.append(bytes[start..<min(start + pieceByteCount, bytes.count)], to: &events)
            count += take(&events)
        }
        try demuxer.finish(to: &events)
        return count + take(&events)
    }

    private static func take(_ events: inout [DemuxerEvent]) -> Int {
        var count = 0
        for event in events { if case .sample = event { count += 1 } }
        events.removeAll(keepingCapacity: true)
        return count
    }
}
