import CLibAV
package import HLSKitMedia

/// Decodes the samples of one audio track.
///
/// Use it on one thread at a time, which it blocks while libavcodec works. It does not trim the output because only the
/// caller knows priming and edits. If the codec or configuration changes, drain the decoder and create another one.
package final class AudioDecoder {
    private let timescale: Int32
    private let context: DecoderContext
    /// The expected time of the next buffer, for buffers without a time.
    private var nextPTS: Int64 = 0

    /// Opens the decoder for `track`.
    ///
    /// - Parameters:
    ///   - threadCount: The number of threads that libavcodec may use. Audio decoders always use one (the default).
    /// - Throws: ``CodecError`` if there is no such decoder, or it refuses the track's configuration.
    package init(track: MediaTrack, threadCount: Int = 1) throws(CodecError) {
        context = try DecoderContext(track: track, threadCount: threadCount)
        timescale = track.timescale
    }

    /// Decodes one sample and appends the completed buffers.
    ///
    /// - Throws: The ``CodecError`` of a damaged sample, after all good buffers have been appended. Decoding continues
    ///   with the next sample.
    package func decode(_ sample: MediaSample, to buffers: inout [AudioBuffer]) throws(CodecError) {
        try context.decode(sample) { frame throws(CodecError) in buffers.append(try makeBuffer(from: frame)) }
    }

    /// Appends all pending buffers. Call it at the end and before samples of another timeline. The decoder then accepts
    /// new samples without any state of the old ones.
    package func drain(to buffers: inout [AudioBuffer]) throws(CodecError) {
        try context.drain { frame throws(CodecError) in buffers.append(try makeBuffer(from: frame)) }
    }

    /// Discards all input. Call it before samples from another position, after a seek.
    func flush() { context.flush() }

    private func makeBuffer(from frame: UnsafeMutablePointer<AVFrame>) throws(CodecError) -> AudioBuffer {
        let time = frame.pointee.best_effort_timestamp
        let pts = time == CLibAV_no_pts() ? nextPTS : time
        let buffer = try AudioBuffer(moving: frame, pts: pts, timescale: timescale)
        nextPTS = pts.addingReportingOverflow(buffer.duration).partialValue
        return buffer
    }
}
