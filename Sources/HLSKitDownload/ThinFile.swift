import HLSKitPlaylist

/// A file of a download of which only the difference to what was packed of it is kept: `NAME.thin`.
///
/// A line that tells where most of its bytes are, and the difference to those (``PatchLibrary``). Of one that is encrypted it
/// is the difference of what it is when it is clear, with what makes it again what it was.
struct ThinFile: Sendable, Hashable {
    /// Where the bytes are.
    struct Reference: Sendable, Hashable {
        /// A file of the folder that was packed, or a part of it.
        var output: String
        var range: Range<Int64>
        /// Of the file itself, when it is clear.
        var byteCount: Int
        /// What the file is encrypted with, by `AES-128`.
        var key: Key?
    }

    struct Key: Sendable, Hashable {
        /// The file of the key.
        var file: String
        var vector: [UInt8]
    }

    /// Larger ones stay as they are: all of it is held in memory to find the difference.
    static let largestRange: Int64 = 64 << 20
    static let largestByteCount = 64 << 20
    private static let magic = "hlskit-thin"
    /// The longest first line.
    private static let lineLimit = 300

    var reference: Reference
    var patch: [UInt8]

    init(reference: Reference, patch: [UInt8]) { (self.reference, self.patch) = (reference, patch) }

    /// nil where that is no such file.
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

    /// Whether a file of this name was packed.
    static func isOutput(_ name: String) -> Bool {
        (name.hasPrefix("output.") || name.hasPrefix("output-")) && !name.contains("/")
    }
}
