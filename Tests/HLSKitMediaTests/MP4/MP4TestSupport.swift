import Foundation
import HLSKitMedia
import HLSKitTime

struct Demuxed {
    var events: [DemuxerEvent] = []
    var error: MediaError?

    var samples: [MediaSample] {
        events.compactMap { event in
            if case .sample(let sample) = event { sample } else { nil }
        }
    }

    var notes: [String] {
        events.compactMap { event in
            if case .note(let text) = event { text } else { nil }
        }
    }

    var tracks: [[MediaTrack]] {
        events.compactMap { event in
            if case .tracks(let tracks) = event { tracks } else { nil }
        }
    }

    init(_ bytes: [UInt8], by demuxer: consuming some Demuxer, pieceSize: () -> Int = { .max }) {
        var demuxer = demuxer
        var rest = bytes[...]
        do throws(MediaError) {
            while !rest.isEmpty {
                // A copy, so that the memory beside the piece does not contain the rest of the file.
                let piece = Array(rest.prefix(pieceSize()))
                rest = rest.dropFirst(piece.count)
                try demuxer.append(piece[...], to: &events)
            }
            try demuxer.finish(to: &events)
        } catch {
            self.error = error
        }
    }

    init(header: [UInt8] = BoxWriter.header(), fragments: [UInt8]) throws {
        let initialization = try MP4InitializationSection(parsing: header[...])
        self.init(fragments, by: FragmentedMP4Demuxer(initialization: initialization))
    }

    var dump: String {
        let lines = events.map { event in
            switch event {
            case .tracks(let tracks): tracks.map(Self.line).joined(separator: "\n")
            case .sample(let sample): Self.line(sample)
            case .eventMessage(let message):
                "event \(message.schemeIDURI) \(message.timing) \(message.messageData.count)"
            case .unreadTrack(let kind, let name): "unread \(kind) \(name)"
            case .note(let text): "note \(text)"
            }
        }
        return (lines + (error.map { ["error \($0.code.rawValue) \($0)"] } ?? [])).joined(separator: "\n") + "\n"
    }

    private static func line(_ track: MediaTrack) -> String {
        var parts = [
            "track \(track.id)", track.mediaType.rawValue, track.codec.rawValue, track.sampleEntry,
            "1/\(track.timescale)",
            track.language ?? "-",
        ]
        if track.mediaType == .video { parts.append("\(track.width)x\(track.height)") }
        if track.mediaType == .audio { parts.append("\(track.sampleRate) Hz, \(track.channelCount) ch") }
        if let encryption = track.encryption { parts.append("\(encryption.scheme.rawValue)") }
        parts.append(
            "configuration "
                + track.configuration.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())
        return parts.joined(separator: " ")
    }

    private static func line(_ sample: MediaSample) -> String {
        var line =
            "\(sample.trackID) pts \(sample.pts) dts \(sample.dts) duration \(sample.duration) "
            + "\(sample.data.count) bytes \(sample.isSync ? "sync" : "-") \(String(crc32(sample.data), radix: 16))"
        if let encryption = sample.encryption {
            line +=
                " iv \(encryption.initializationVector) \(encryption.subsamples.map { ($0.clearByteCount, $0.protectedByteCount) })"
        }
        return line
    }

    /// Returns the CRC that `ffprobe -show_data_hash CRC32` prints, so that dumps can be compared.
    static func crc32(_ data: SampleData) -> UInt32 {
        data.withUnsafeBytes { bytes in
            ~bytes.reduce(~UInt32(0)) { crc, byte in
                (0..<8).reduce(crc ^ UInt32(byte)) { crc, _ in crc >> 1 ^ (crc & 1 == 1 ? 0xEDB8_8320 : 0) }
            }
        }
    }
}

extension SampleData {
    var bytes: [UInt8] { withUnsafeBytes { Array($0) } }
}

enum MP4Fixture {
    static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Fixtures/media/mp4")

    static let fragmented = [
        "ac-3", "alac", "av01", "avc-aac", "avc-aac-absolute", "avc-hybrid", "avc-negative-cts", "ec-3", "flac", "hvc1",
        "mp3", "opus", "vp09",
    ]
    /// A file that has every box. ffmpeg writes no such file.
    static let written = "all-boxes"
    static let progressive = ["progressive", "quicktime-aac.mov"]
    static let all = fragmented + progressive + [written]

    static func bytes(_ name: String) throws -> [UInt8] {
        if name == written { return BoxWriter.allBoxes }
        return [UInt8](try Data(contentsOf: folder.appendingPathComponent(name + ".mp4")))
    }

    static func demux(_ bytes: [UInt8], of name: String, pieceSize: () -> Int = { .max }) -> Demuxed {
        progressive.contains(name)
            ? Demuxed(bytes, by: ProgressiveMP4Demuxer(), pieceSize: pieceSize)
            : Demuxed(bytes, by: FragmentedMP4Demuxer(initialization: nil), pieceSize: pieceSize)
    }
}
