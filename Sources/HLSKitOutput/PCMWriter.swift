import HLSKitCodec
import HLSKitLoading
import HLSKitMedia
import Synchronization

/// Writes audio as interleaved samples: `-f wav`, `-f s16le`, `-f f32le`.
///
/// The first buffer determines the sample rate and channels. Later buffers are resampled to them.
final class PCMWriter: AudioWriter {
    enum Format: Sendable, Hashable {
        /// A RIFF file of signed 16-bit samples.
        case wav
        /// Signed 16-bit samples without a header.
        case s16le
        /// 32-bit floats without a header.
        case f32le
    }

    private struct State: ~Copyable {
        let file: OutputFile
        let converter: AudioConverter
        var samples: [UInt8] = []
        var header: WAVHeader?
        var hasSamples = false
        var lastInput: String?
    }

    private let format: Format
    private let note: WriterNote
    private let state: Mutex<State>

    /// - Parameter note: Receives a text for each change to the media, such as a new sample rate.
    init(file: consuming sending OutputFile, format: Format, note: @escaping WriterNote = { _ in }) {
        self.format = format
        self.note = note
        let converter = AudioConverter(to: format == .f32le ? .float32 : .int16)
        state = Mutex(State(file: file, converter: converter))
    }

    var mediaTypes: Set<MediaKind> { [.audio] }
    var isEmpty: Bool { state.withLock { !$0.hasSamples } }
    var isReadAsWritten: Bool { state.withLock { !$0.file.isSeekable } }

    func begin(_ tracks: [MediaTrack]) {}

    func write(_ buffer: AudioBuffer, ofTrackAt index: Int) throws(HLSError) {
        try state.withLock { state throws(HLSError) in
            state.samples.removeAll(keepingCapacity: true)
            try state.file.converting { () throws(CodecError) in
                try state.converter.convert(buffer, into: &state.samples)
            }
            noteResampling(of: buffer, &state)
            if !state.hasSamples {
                state.hasSamples = true
                if format == .wav { try writeHeader(for: buffer, &state) }
            }
            try state.file.write(state.samples)
        }
    }

    func flush() throws(HLSError) {
        try state.withLock { state throws(HLSError) in try state.file.flush() }
    }

    func finish() throws(HLSError) {
        try state.withLock { state throws(HLSError) in
            state.samples.removeAll()
            try state.file.converting { () throws(CodecError) in try state.converter.flush(into: &state.samples) }
            try state.file.write(state.samples)
            if let header = state.header, state.file.isSeekable {
                let (dataByteCount, fileByteCount) = (state.file.byteCount - header.byteCount, state.file.byteCount)
                try state.file.seek(to: 0)
                try state.file.write(header.bytes(dataByteCount: dataByteCount))
                try state.file.seek(to: fileByteCount)
            }
            try state.file.finish(keeping: state.hasSamples)
        }
    }

    private func writeHeader(for buffer: AudioBuffer, _ state: inout State) throws(HLSError) {
        guard
            let header = WAVHeader(
                sampleRate: buffer.sampleRate, channelCount: buffer.channelCount, channelMask: buffer.channelMask,
                canGrow: state.file.isSeekable)
        else {
            throw HLSError(
                code: .unsupported, path: state.file.path,
                text: "WAV cannot hold \(buffer.channelCount) channels of \(buffer.sampleRate) Hz")
        }
        state.header = header
        try state.file.write(header.bytes(dataByteCount: nil))
    }

    private func noteResampling(of buffer: AudioBuffer, _ state: inout State) {
        let input = "\(buffer.sampleRate) Hz \(buffer.channelLayoutName)"
        defer { state.lastInput = input }
        guard let last = state.lastInput, last != input, let rate = state.converter.sampleRate,
            let channels = state.converter.channelLayoutName
        else { return }
        note("audio \(input) after \(last): written as \(rate) Hz \(channels)")
    }
}
