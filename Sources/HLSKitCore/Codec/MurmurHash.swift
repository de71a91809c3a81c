import CLibAV
import HLSPlaylist

/// libavutil's MurmurHash3 of 128 bits: tells whether bytes are still what they were, in an eighth of the time of MD5. It is
/// no seal: whoever wants to can make other bytes with the same hash.
struct MurmurHash: ~Copyable {
    private let state: OpaquePointer

    init() throws(CodecError) {
        try UtilLibrary.check()
        guard let state = av_murmur3_alloc() else {
            throw CodecError(call: "av_murmur3_alloc", code: CodecError.outOfMemory)
        }
        self.state = state
        av_murmur3_init(state)
    }

    deinit { av_free(UnsafeMutableRawPointer(state)) }

    func update(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress, !bytes.isEmpty else { return }
        av_murmur3_update(state, base.assumingMemoryBound(to: UInt8.self), bytes.count)
    }

    /// The digest of everything since the last call, as 32 hexadecimal digits.
    func finish() -> String {
        let text = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { digest in
            digest.initialize(repeating: 0)
            if let base = digest.baseAddress { av_murmur3_final(state, base) }
            return Array(digest).hexadecimalText
        }
        av_murmur3_init(state)
        return text
    }
}
