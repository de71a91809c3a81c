import CLibAV
import HLSKitPlaylist
import HLSKitTime

/// A digest of 128 bits by one of libavutil's algorithms.
package struct LibraryDigest: ~Copyable {
    package enum Algorithm: String, Sendable, Hashable, CaseIterable {
        /// MurmurHash3, which detects changed bytes in an eighth of the time of MD5. It is not secure against
        /// deliberate collisions.
        case murmur3
        /// The hash of `ffmpeg -f framemd5`.
        case md5
    }

    package let algorithm: Algorithm
    private let state: OpaquePointer

    package init(_ algorithm: Algorithm) throws(CodecError) {
        try UtilLibrary.check()
        let state =
            switch algorithm {
            case .murmur3: av_murmur3_alloc()
            case .md5: av_md5_alloc()
            }
        guard let state else { throw CodecError(call: "av_\(algorithm.rawValue)_alloc", code: CodecError.outOfMemory) }
        self.algorithm = algorithm
        self.state = state
        begin()
    }

    deinit { av_free(UnsafeMutableRawPointer(state)) }

    private func begin() {
        switch algorithm {
        case .murmur3: av_murmur3_init(state)
        case .md5: av_md5_init(state)
        }
    }

    package func update(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), !bytes.isEmpty else { return }
        switch algorithm {
        case .murmur3: av_murmur3_update(state, base, bytes.count)
        case .md5: av_md5_update(state, base, bytes.count)
        }
    }

    /// Returns the digest of all bytes since the last call, as 32 hexadecimal digits.
    package func finish() -> String {
        let text = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { digest in
            digest.initialize(repeating: 0)
            if let base = digest.baseAddress {
                switch algorithm {
                case .murmur3: av_murmur3_final(state, base)
                case .md5: av_md5_final(state, base)
                }
            }
            return Array(digest).hexadecimalText
        }
        begin()
        return text
    }
}
