import CLibAV
import HLSPlaylist

/// libavutil's MD5, as `ffmpeg -f framemd5` uses it.
struct MD5Hash: ~Copyable {
    private let state: OpaquePointer

    init() throws(CodecError) {
        try UtilLibrary.check()
        guard let state = av_md5_alloc() else {
            throw CodecError(call: "av_md5_alloc", code: CodecError.outOfMemory)
        }
        self.state = state
        av_md5_init(state)
    }

    deinit { av_free(UnsafeMutableRawPointer(state)) }

    func update(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress, !bytes.isEmpty else { return }
        av_md5_update(state, base.assumingMemoryBound(to: UInt8.self), bytes.count)
    }

    /// The digest of everything since the last call, as 32 hexadecimal digits.
    func finish() -> String {
        let text = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { digest in
            digest.initialize(repeating: 0)
            if let base = digest.baseAddress { av_md5_final(state, base) }
            return Array(digest).hexadecimalText
        }
        av_md5_init(state)
        return text
    }
}
