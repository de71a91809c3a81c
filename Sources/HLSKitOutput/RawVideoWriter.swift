import HLSKitCodec
import HLSKitLoading
import HLSKitMedia
import Synchronization

/// Writes frames in sequence, plane by plane without padding: `-f rawvideo`.
///
/// The first frame determines the size and pixel format of all frames.
final class RawVideoWriter: FrameWriter {
    private struct State: ~Copyable {
        let file: OutputFile
        let conformer: FrameConformer
        var hasFrames = false
    }

    private let state: Mutex<State>

    init(file: consuming sending OutputFile, note: @escaping WriterNote = { _ in }) {
        state = Mutex(State(file: file, conformer: .keepingFormat(note: note)))
    }

    var mediaTypes: Set<MediaKind> { [.video] }
    var isEmpty: Bool { state.withLock { !$0.hasFrames } }
    var isReadAsWritten: Bool { state.withLock { !$0.file.isSeekable } }

    func begin(_ tracks: [MediaTrack]) {}

    func write(_ frame: VideoFrame, ofTrackAt index: Int) throws(HLSError) {
        try state.withLock { state throws(HLSError) in
            let frame = try state.file.converting { () throws(CodecError) in try state.conformer.conform(frame) }
            try state.file.write(frame: frame)
            state.hasFrames = true
        }
    }

    func flush() throws(HLSError) {
        try state.withLock { state throws(HLSError) in try state.file.flush() }
    }

    func finish() throws(HLSError) {
        try state.withLock { state throws(HLSError) in try state.file.finish(keeping: state.hasFrames) }
    }
}

extension OutputFile {
    func write(frame: VideoFrame) throws(HLSError) {
        try frame.withPlanes { planes throws(HLSError) in
            for plane in planes {
                try plane.forEachRun { bytes throws(HLSError) in try write(bytes) }
            }
        }
    }

    func finish(keeping hasMedia: Bool) throws(HLSError) {
        if hasMedia { try commit() } else { discard() }
    }

    func converting<Result>(_ body: () throws(CodecError) -> Result) throws(HLSError) -> Result {
        do { return try body() } catch { throw HLSError(error, path: path) }
    }
}
