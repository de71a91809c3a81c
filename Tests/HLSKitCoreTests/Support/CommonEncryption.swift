import HLSKitMedia
import TestSupport
import Testing

/// Encrypts the video of fragmented MP4 with common encryption, using OpenSSL.
enum CommonEncryption {
    static let key = bytes(keyText)
    private static let keyText = "00112233445566778899aabbccddeeff"
    private static let vectorText = "0f0e0d0c0b0a09080706050403020100"

    private static func bytes(_ hex: String) -> [UInt8] {
        stride(from: 0, to: hex.count, by: 2).map { at in
            let start = hex.index(hex.startIndex, offsetBy: at)
            return UInt8(hex[start...hex.index(after: start)], radix: 16) ?? 0
        }
    }

    private static func box(_ name: String, _ payload: [UInt8]) -> [UInt8] {
        let size = payload.count + 8
        return [UInt8(size >> 24), UInt8(size >> 16 & 255), UInt8(size >> 8 & 255), UInt8(size & 255)]
            + Array(name.utf8) + payload
    }

    private static func place(of name: String, in bytes: [UInt8]) throws -> Int {
        try #require(bytes.indices.dropLast(3).first { bytes[$0..<$0 + 4].elementsEqual(name.utf8) })
    }

    /// Returns the header with its video track declared as encrypted with a constant vector.
    static func protected(_ header: [UInt8], scheme: String, pattern: UInt8) throws -> [UInt8] {
        var tenc: [UInt8] = [1, 0, 0, 0, 0, pattern, 1, 0]
        tenc += [UInt8](repeating: 7, count: 16)
        tenc += [16]
        tenc += bytes(vectorText)
        var children = box("frma", Array("avc1".utf8))
        children += box("schm", [0, 0, 0, 0] + Array(scheme.utf8) + [0, 1, 0, 0])
        children += box("schi", box("tenc", tenc))
        let sinf = box("sinf", children)
        var result = header
        var entryEnd = 0
        for name in ["moov", "trak", "mdia", "minf", "stbl", "stsd", "avc1"] {
            let at = try place(of: name, in: result) - 4
            let size = result[at..<at + 4].reduce(0) { (sum: Int, byte: UInt8) in sum << 8 | Int(byte) }
            if name == "avc1" { entryEnd = at + size }
            let new = size + sinf.count
            result.replaceSubrange(
                at..<at + 4, with: [24, 16, 8, 0].map { (shift: Int) in UInt8(truncatingIfNeeded: new >> shift) })
        }
        let entry = try place(of: "avc1", in: result)
        result.replaceSubrange(entry..<entry + 4, with: "encv".utf8)
        result.insert(contentsOf: sinf, at: entryEnd)
        return result
    }

    /// Returns the segment with its samples encrypted, completely by CTR or one block in ten by CBC.
    static func encrypted(_ segment: [UInt8], _ header: [UInt8], isCBC: Bool) throws -> [UInt8] {
        var demuxer = FragmentedMP4Demuxer(initialization: try MP4InitializationSection(parsing: header[...]))
        var events: [DemuxerEvent] = []
        try demuxer.append(segment[...], to: &events)
        var result = segment
        var at = try place(of: "mdat", in: segment) + 4
        for case .sample(let sample) in events {
            let range = at..<at + sample.data.count
            at = range.upperBound
            if isCBC {
                let starts = stride(from: range.lowerBound, to: range.upperBound - 15, by: 160)
                let blocks = starts.flatMap { Array(segment[$0..<$0 + 16]) }
                guard !blocks.isEmpty else { continue }
                let cipher = try openssl("-aes-128-cbc", blocks)
                for (number, start) in starts.enumerated() {
                    result.replaceSubrange(start..<start + 16, with: cipher[number * 16..<number * 16 + 16])
                }
            } else {
                result.replaceSubrange(range, with: try openssl("-aes-128-ctr", Array(segment[range])))
            }
        }
        return result
    }

    private static func openssl(_ cipher: String, _ bytes: [UInt8]) throws -> [UInt8] {
        try Tool.run(["openssl", "enc", cipher, "-nopad", "-K", keyText, "-iv", vectorText], input: bytes)
    }
}
