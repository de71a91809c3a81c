import HLSKitPlaylist
import HLSKitTime

/// A file of a download stored as its difference to the muxed output: `NAME.thin`.
///
/// Its first line says where in the output most of the bytes are. The difference (``PatchLibrary``) follows. For an
/// encrypted file, this is the difference of its decrypted bytes, and the key to encrypt them again.
struct ThinFile: Sendable, Hashable {
    struct Reference: Sendable, Hashable {
        var output: String
        var range: Range<Int64>
        var byteCount: Int
        var key: Key?
    }

    struct Key: Sendable, Hashable {
        var file: String
        var vector: [UInt8]
    }

    /// Larger files remain complete, because computing the difference holds all of it in memory.
    static let largestRange: Int64 = 64 << 20
    static let largestByteCount = 64 << 20
    private static let magic = "hlskit-thin"
    private static let lineLimit = 300

    var reference: Reference
    var patch: [UInt8]

    init(reference: Reference, patch: [UInt8]) { (self.reference, self.patch) = (reference, patch) }

    init?(parsing bytes: [UInt8]) {
        guard let end = bytes.prefix(Self.lineLimit).firstIndex(of: 0x0A) else { return nil }
        let words = String(decoding: bytes[..<end], as: UTF8.self).split(separator: " ").map(String.init)
        guard words.count == 5 || words.count == 7, words[0] == Self.magic, Self.isOutput(words[1]),
            let start = Int64(words[2]), let stop = Int64(words[3]), let byteCount = Int(words[4]),
            start >= 0, stop >= start, stop - start <= Self.largestRange,
            (1...Self.largestByteCount).contains(byteCount)
        else { return nil }
        reference = Reference(output: words[1], range: start..<stop, byteCount: byteCount)
        if words.count == 7 { reference.key = Key(file: words[5], vector: words[6].hexadecimalBytes) }
        patch = Array(bytes[(end + 1)...])
    }

    var bytes: [UInt8] {
        let range = reference.range
        let words =
            [
                Self.magic, reference.output, String(range.lowerBound), String(range.upperBound),
                String(reference.byteCount),
            ] + (reference.key.map { [$0.file, $0.vector.hexadecimalText] } ?? [])
        return Array((words.joined(separator: " ") + "\n").utf8) + patch
    }

    static func isOutput(_ name: String) -> Bool {
        (name.hasPrefix("output.") || name.hasPrefix("output-")) && !name.contains("/")
    }
}
