/// What a file of a download was when it was written, in 128 bits: by it another run sees that it still is.
struct FileDigest: Sendable, Hashable {
    /// Journals of earlier versions have MD5.
    enum Algorithm: String, Sendable, Hashable, CaseIterable { case murmur3, md5 }

    var algorithm: Algorithm
    /// 32 hexadecimal digits.
    var text: String
}

/// Computes a ``FileDigest``.
struct FileHasher: ~Copyable {
    private enum State: ~Copyable {
        case murmur3(MurmurHash)
        case md5(MD5Hash)
    }

    private let state: State

    init(_ algorithm: FileDigest.Algorithm = .murmur3) throws(CodecError) {
        switch algorithm {
        case .murmur3: state = .murmur3(try MurmurHash())
        case .md5: state = .md5(try MD5Hash())
        }
    }

    func update(_ bytes: UnsafeRawBufferPointer) {
        switch state {
        case .murmur3(let hash): hash.update(bytes)
        case .md5(let hash): hash.update(bytes)
        }
    }

    /// The digest of everything since the last call.
    func finish() -> FileDigest {
        switch state {
        case .murmur3(let hash): FileDigest(algorithm: .murmur3, text: hash.finish())
        case .md5(let hash): FileDigest(algorithm: .md5, text: hash.finish())
        }
    }
}
