import HLSKitCodec

/// What a file of a download was when it was written, in 128 bits: by it another run sees that it still is.
struct FileDigest: Sendable, Hashable {
    /// Journals of earlier versions have MD5.
    var algorithm: LibraryDigest.Algorithm
    /// 32 hexadecimal digits.
    var text: String
}
