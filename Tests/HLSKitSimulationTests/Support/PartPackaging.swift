import HLSKitCore
import HLSKitMedia
import HLSKitSimulation
import Synchronization
import TestSupport

/// Converts the variants of a ``LowLatencyOrigin`` to another container, or encrypts them. Audio does not change.
struct PartPackaging: Sendable {
    var isTransportStream = false
    /// The parameters of `METHOD=AES-128`, which encrypts each part and each segment separately.
    var encryption: Encryption?
    /// Whether samples are encrypted by ``CommonEncryption`` with cbcs.
    var encryptsSamples = false

    struct Encryption: Sendable {
        /// The number of segments with the same key.
        var segmentsPerKey = 2
        /// Whether the playlist has an IV. Otherwise the IV is the media sequence number.
        var hasVector = false
    }

    func answer(of origin: LowLatencyOrigin) -> PartStage.Answer {
        let header = origin.response(
            to: SimulatedRequest(urlString: origin.url.replacing("index.m3u8", with: "init.mp4"), time: .zero)
        ).body
        return { request, response in
            (try? changed(request, response, origin, header)) ?? SimulatedResponse.status(500)
        }
    }

    private func changed(
        _ request: SimulatedRequest, _ response: SimulatedResponse, _ origin: LowLatencyOrigin, _ header: [UInt8]
    ) throws -> SimulatedResponse {
        var response = response
        let file = request.urlString.split(separator: "/").last ?? ""
        if file.hasPrefix("key-"), let number = UInt8(file.dropFirst(4)) {
            return SimulatedResponse(body: encryptsSamples ? CommonEncryption.key : Self.key(number))
        }
        guard response.status == 200 else { return response }
        if file == "init.mp4", encryptsSamples {
            response.body = try CommonEncryption.protected(header, scheme: "cbcs", pattern: 0x19)
        }
        if file.hasPrefix("live.m3u8"), !request.urlString.contains("/\(origin.bitRates.count)/") {
            response.body = Array(list(String(decoding: response.body, as: UTF8.self)).utf8)
        }
        guard file.hasSuffix(".m4s"), !request.urlString.contains("/\(origin.bitRates.count)/") else { return response }
        let numbers = file.dropLast(4).split(separator: ".").compactMap { Int($0) }
        guard let segment = numbers.first else { return response }
        if isTransportStream {
            let last = numbers.count > 1 ? numbers[1] : origin.partsPerSegment - 1
            let parts = (0...last).map { part in
                var earlier = request
                let whole = request.urlString.dropLast(file.count)
                earlier.urlString = whole + "\(segment).\(part).m4s"
                return origin.response(to: earlier).body
            }
            let pieces = try Self.transportStream(parts, header)
            response.body = numbers.count > 1 ? pieces.last ?? [] : pieces.flatMap { $0 }
            response.contentType = "video/mp2t"
        }
        if encryptsSamples {
            let size = response.body.count / (numbers.count > 1 ? 1 : origin.partsPerSegment)
            response.body = try stride(from: 0, to: response.body.count, by: size).flatMap { at in
                try CommonEncryption.encrypted(Array(response.body[at..<at + size]), header, isCBC: true)
            }
        }
        if let encryption {
            response.body = try Self.encrypted(
                response.body, key: Self.key(UInt8(segment / encryption.segmentsPerKey)),
                vector: encryption.hasVector ? Self.vector(1_000_000 + segment) : Self.vector(segment))
        }
        return response
    }

    // MARK: Playlists

    private func list(_ text: String) -> String {
        var lines: [String] = []
        var number = 0
        for line in text.split(separator: "\n") {
            if line.hasPrefix("#EXT-X-MEDIA-SEQUENCE:") { number = Int(line.dropFirst(22)) ?? 0 }
            if line.hasPrefix("#EXT-X-SKIP:SKIPPED-SEGMENTS=") { number += Int(line.dropFirst(29)) ?? 0 }
            if line.hasPrefix("#EXT-X-MAP:"), isTransportStream { continue }
            if line.hasPrefix("#EXT-X-PROGRAM-DATE-TIME:") {
                if let encryption {
                    let vector = Self.vector(1_000_000 + number).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
                    lines.append(
                        "#EXT-X-KEY:METHOD=AES-128,URI=\"key-\(number / encryption.segmentsPerKey)\""
                            + (encryption.hasVector ? ",IV=0x\(vector.joined())" : ""))
                }
                number += 1
            }
            lines.append(String(line))
            if line.hasPrefix("#EXT-X-VERSION:"), encryptsSamples {
                lines.append("#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"key-0\"")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    // MARK: Encryption

    private static func key(_ number: UInt8) -> [UInt8] { (0..<16).map { $0 &* 7 &+ number } }
    private static func vector(_ number: Int) -> [UInt8] {
        (0..<16).map { $0 < 8 ? 0 : UInt8(truncatingIfNeeded: number >> (8 * (15 - $0))) }
    }

    private static func encrypted(_ bytes: [UInt8], key: [UInt8], vector: [UInt8]) throws -> [UInt8] {
        func hexadecimal(_ bytes: [UInt8]) -> String {
            bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        return try Tool.run(
            ["openssl", "enc", "-aes-128-cbc", "-K", hexadecimal(key), "-iv", hexadecimal(vector)], input: bytes)
    }

    // MARK: Transport streams

    /// Returns the transport stream of one segment, split at its parts.
    private static func transportStream(_ parts: [[UInt8]], _ header: [UInt8]) throws -> [[UInt8]] {
        let section = try MP4InitializationSection(parsing: header[...])
        let streams = [TransportStreamWriter.Stream(pid: 256, type: 0x1b)]
        var writer = TransportStreamWriter()
        var pieces: [[UInt8]] = []
        for part in parts {
            let begin = writer.bytes.count
            writer.associate([1: 4096])
            writer.map(program: 1, pid: 4096, streams: streams)
            var demuxer = FragmentedMP4Demuxer(initialization: section)
            var events: [DemuxerEvent] = []
            try demuxer.append(part[...], to: &events)
            try demuxer.finish(to: &events)
            for case .sample(let sample) in events {
                writer.add(
                    .init(
                        pid: 256, pts: sample.pts, payload: byteStream(of: sample, section.tracks.first),
                        isRandomAccess: true))
            }
            pieces.append(Array(writer.bytes[begin...]))
        }
        return pieces
    }

    /// Returns a sample with a delimiter, parameter sets, and start codes instead of lengths of four bytes.
    private static func byteStream(of sample: MediaSample, _ track: MediaTrack?) -> [UInt8] {
        var stream: [UInt8] = [0, 0, 0, 1, 0x09, 0xf0]
        if let sets = track?.configuration, sets.count > 8 {
            var at = 6
            for _ in 0..<2 {
                let length = Int(sets[at]) << 8 | Int(sets[at + 1])
                stream += [0, 0, 0, 1] + sets[at + 2..<at + 2 + length]
                at += 3 + length
            }
        }
        sample.data.withUnsafeBytes { bytes in
            var at = 0
            while at + 4 <= bytes.count {
                let length = (0..<4).reduce(0) { $0 << 8 | Int(bytes[at + $1]) }
                at += 4
                guard at + length <= bytes.count else { break }
                stream += [0, 0, 1] + bytes[at..<at + length]
                at += length
            }
        }
        return stream
    }
}
