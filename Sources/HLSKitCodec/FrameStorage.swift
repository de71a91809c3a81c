import CLibAV

/// Owns one `AVFrame` that is no longer modified.
final class FrameStorage: @unchecked Sendable {  // immutable: every access after `init` only reads
    let raw: UnsafeMutablePointer<AVFrame>

    /// Takes over the references of `frame` and leaves it empty.
    init(moving frame: UnsafeMutablePointer<AVFrame>) throws(CodecError) {
        guard let storage = av_frame_alloc() else {
            throw CodecError(call: "av_frame_alloc", code: CodecError.outOfMemory)
        }
        av_frame_move_ref(storage, frame)
        raw = storage
    }

    deinit {
        var frame: UnsafeMutablePointer<AVFrame>? = raw
        av_frame_free(&frame)
    }
}
