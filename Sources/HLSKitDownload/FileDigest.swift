import HLSKitCodec

/// A 128-bit digest of a complete file, with which later runs detect changes.
struct FileDigest: Sendable, Hashable {
    /// The algorithm. Journals of earlier versions use MD5.
    var algorithm: LibraryDigest.Algorithm
    /// 32 hexadecimal digits.
    var text: String
}
