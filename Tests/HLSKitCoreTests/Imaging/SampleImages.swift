import Foundation
import HLSKitAsset
import HLSKitCodec
import HLSKitImaging
import HLSKitLoading
import HLSKitMedia
import HLSKitTime
import TestSupport
import Testing

enum SampleImages {
    static let base = "http://a.example/"
    static let master = base + "master.m3u8"
    static let frame = MediaTime(value: 1, timescale: 25)

    static func resources() throws -> [String: [UInt8]] {
        var table: [String: [UInt8]] = [:]
        for file in try FileManager.default.contentsOfDirectory(atPath: SampleMedia.folder) {
            table[base + file] = Array(try Data(contentsOf: URL(fileURLWithPath: "\(SampleMedia.folder)/\(file)")))
        }
        return table
    }

    static func transport(_ change: (inout [String: [UInt8]]) -> Void = { _ in }) throws -> TableTransport {
        var table = try resources()
        change(&table)
        return TableTransport(table)
    }

    static func generator(_ transport: TableTransport, url: String = master) -> ImageGenerator {
        ImageGenerator(asset: Asset(urlString: url, options: .table(transport)))
    }

    static func fixture(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: "\(SampleMedia.fixtures)/media/\(name)")))
    }

    static func turned(_ file: [UInt8], byQuarters quarters: Int) throws -> [UInt8] {
        let matrices: [[Int32]] = [[1, 0, 0, 1], [0, 1, -1, 0], [-1, 0, 0, -1], [0, -1, 1, 0]]
        var bytes = file
        // In version 0, the matrix is 40 bytes after the type. Its first two rows hold the rotation (ISO 14496-12
        // §8.3.2).
        let type = try #require(bytes.firstRange(of: Array("tkhd".utf8)))
        try #require(bytes[type.upperBound] == 0)
        for (place, value) in zip([0, 1, 3, 4], matrices[quarters]) {
            for byte in 0..<4 {
                let at = type.upperBound + 40 + place * 4 + byte
                bytes[at] = UInt8(truncatingIfNeeded: (value << 16) >> Int32(24 - byte * 8))
            }
        }
        return bytes
    }

    static func frames(of name: String) throws -> [VideoFrame] {
        let rendition = try SampleMedia.rendition("video-\(name)")
        let section = try MP4InitializationSection(parsing: rendition.initializationSection[...])
        let decoder = try VideoDecoder(track: section.tracks[0])
        var frames: [VideoFrame] = []
        for segment in rendition.segments {
            var demuxer = FragmentedMP4Demuxer(initialization: section)
            var events: [DemuxerEvent] = []
            try demuxer.append(segment[...], to: &events)
            try demuxer.finish(to: &events)
            for case .sample(let sample) in events { try decoder.decode(sample, to: &frames) }
        }
        try decoder.drain(to: &frames)
        return frames
    }

    /// Returns the similarity of two images in decibels, or infinity if they are the same.
    static func likeness(_ one: [UInt8], _ other: [UInt8]) -> Double {
        guard one.count == other.count, !one.isEmpty else { return 0 }
        let sum = zip(one, other).reduce(0.0) { sum, pair in
            let difference = Double(pair.0) - Double(pair.1)
            return sum + difference * difference
        }
        return sum == 0 ? .infinity : 10 * log10(255 * 255 / (sum / Double(one.count)))
    }
}

extension ImageGenerator {
    func collect(_ times: [MediaTime]) async -> [ImageGenerationResult] {
        var results: [ImageGenerationResult] = []
        for await result in images(for: times) { results.append(result) }
        return results
    }

    func setExact() {
        requestedTimeToleranceBefore = .zero
        requestedTimeToleranceAfter = .zero
    }
}

extension ImageGenerationResult {
    var actual: MediaTime? { actualTime }
    var error: HLSError? { if case .failed(_, let error) = self { error } else { nil } }
    var isCancelled: Bool { if case .cancelled = self { true } else { false } }
}

extension [MediaTime] {
    static func seconds(_ values: Double...) -> [MediaTime] {
        values.map { MediaTime(seconds: $0, preferredTimescale: 1000) }
    }
}
