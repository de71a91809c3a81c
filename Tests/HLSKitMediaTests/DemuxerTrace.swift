import Foundation
import HLSKitMedia

/// The output of a demuxer as text. The same bytes give the same trace, however they are split.
struct DemuxerTrace: Equatable {
    var lines: [String] = []
    var tracks: [MediaTrack] = []
    var samples: [MediaSample] = []
    var messages: [EventMessage] = []
    var notes: [String] = []
    var unread: [String] = []
    var error: MediaError?

    static func == (a: DemuxerTrace, b: DemuxerTrace) -> Bool { a.lines == b.lines }

    /// - Parameter sizes: The sizes of the pieces, repeated to the end. If empty, the bytes are one piece.
    init(_ demuxer: consuming some Demuxer, _ bytes: [UInt8], pieces sizes: [Int] = []) {
        var events: [DemuxerEvent] = []
        do throws(MediaError) {
            var at = 0
            var turn = 0
            while at < bytes.count {
                let size = sizes.isEmpty ? bytes.count : max(1, sizes[turn % sizes.count])
                let end = min(bytes.count, at + size)
                try demuxer.append(bytes[at..<end], to: &events)
                at = end
                turn += 1
            }
            try demuxer.finish(to: &events)
        } catch {
            self.error = error
        }
        for event in events {
            switch event {
            case .tracks(let tracks):
                self.tracks = tracks
                for track in tracks { lines.append(Self.line(track)) }
            case .sample(let sample):
                samples.append(sample)
                lines.append(Self.line(sample))
            case .eventMessage(let message):
                messages.append(message)
                lines.append("event \(message)")
            case .unreadTrack(let kind, let name):
                unread.append("\(kind) \(name)")
                lines.append("unread \(kind) \(name)")
            case .note(let text):
                notes.append(text)
                lines.append("note \(text)")
            }
        }
        if let error { lines.append("error \(error.code.rawValue) \(error)") }
    }

    var text: String { lines.joined(separator: "\n") + "\n" }

    func samples(of id: Int) -> [MediaSample] { samples.filter { $0.trackID == id } }

    private static func line(_ track: MediaTrack) -> String {
        var words = ["track \(track.id) \(track.mediaType.rawValue) \(track.codec.rawValue)"]
        if track.width > 0 { words.append("\(track.width)x\(track.height)") }
        if track.sampleRate > 0 { words.append("\(track.sampleRate) Hz \(track.channelCount) ch") }
        if !track.configuration.isEmpty { words.append(track.configuration.map { hex($0) }.joined()) }
        if let language = track.language { words.append(language) }
        return words.joined(separator: " ")
    }

    private static func line(_ sample: MediaSample) -> String {
        let flags = (sample.isSync ? "sync" : "-") + (sample.isDamaged ? " damaged" : "")
        // FNV-1a, which shows any changed byte.
        let hash = sample.bytes.reduce(UInt32(0x811c_9dc5)) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
        return "sample \(sample.trackID) pts \(sample.pts) dts \(sample.dts) duration \(sample.duration) "
            + "size \(sample.data.count) \(String(hash, radix: 16)) \(flags)"
    }

    private static func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }
}

extension MediaSample {
    var bytes: [UInt8] { data.withUnsafeBytes { Array($0) } }
}

/// A file of `Tests/Fixtures/media` that `scripts/make-test-media` makes.
struct MediaFixture: CustomStringConvertible, Sendable {
    var name: String
    var description: String { name }

    static let transportStreams = [
        "ts-h264-aac.ts", "ts-wrap.ts", "ts-interlaced.ts", "ts-hevc-eac3.ts", "ts-192.m2ts", "ts-ac3-mp3.ts",
        "ts-latm.ts",
    ].map { MediaFixture(name: $0) }
    static let packedAudio = ["packed.aac", "packed.mp3", "packed.ac3", "packed-title.ec3"].map {
        MediaFixture(name: $0)
    }

    private var url: URL {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/media").appending(path: name)
    }

    var bytes: [UInt8] { get throws { [UInt8](try Data(contentsOf: url)) } }

    func trace(_ bytes: [UInt8], pieces: [Int] = []) -> DemuxerTrace {
        name.hasPrefix("ts-")
            ? DemuxerTrace(TransportStreamDemuxer(), bytes, pieces: pieces)
            : DemuxerTrace(PackedAudioDemuxer(), bytes, pieces: pieces)
    }

    /// Returns the stored trace. If HLSKIT_REWRITE_GOLDEN is set, stores `trace` first.
    func golden(_ trace: DemuxerTrace) throws -> String {
        let file = url.appendingPathExtension("samples.txt")
        if ProcessInfo.processInfo.environment["HLSKIT_REWRITE_GOLDEN"] != nil {
            try Data(trace.text.utf8).write(to: file)
        }
        return String(decoding: try Data(contentsOf: file), as: UTF8.self)
    }
}
