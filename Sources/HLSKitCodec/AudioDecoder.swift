import CLibAV
package import HLSKitMedia

/// Decodes the samples of one audio track.
///
/// Belongs to one thread at a time and blocks it while libavcodec works. Nothing is trimmed: priming and edits are
/// the business of whoever knows them. A track with another codec or configuration needs a new decoder, after the old
/// one was drained.
package final class AudioDecoder {
    private let timescale: Int32
    private let context: DecoderContext
    /// Where the next buffer is expected, for buffers that come out without a time.
    private var nextPTS: Int64 = 0

    /// Opens the decoder of `track`'s codec.
    ///
    /// - Parameters:
    ///   - track: with its codec and configuration.
    ///   - threadCount: threads that libavcodec may use; audio decoders use one (the default) whatever this is.
    /// - Throws: ``CodecError`` if there is no such decoder, or it refuses the track's configuration.
    package init(track: MediaTrack, threadCount: Int = 1) throws(CodecError) {
        context = try DecoderContext(track: track, threadCount: threadCount)
        timescale = track.timescale
    }

    /// Decodes one sample and appends the buffers that are ready.
    ///
    /// - Throws: the ``CodecError`` of a damaged sample, after all good buffers were appended. Decoding continues with
    ///   the next sample.
    package func decode(_ sample: MediaSample, to buffers: inout [AudioBuffer]) throws(CodecError) {
        try context.decode(sample) { frame throws(CodecError) in buffers.append(try makeBuffer(from: frame)) }
    }

    /// Appends all buffers that are still held back: at the end, and before samples of another timeline. The decoder
    /// takes new samples afterwards and remembers nothing of the old.
    package func drain(to buffers: inout [AudioBuffer]) throws(CodecError) {
        try context.drain { frame throws(CodecError) in buffers.append(try makeBuffer(from: frame)) }
    }

    /// Forgets all that was put in: before samples from elsewhere, after a seek.
    func flush() { context.flush() }

    private func makeBuffer(from frame: UnsafeMutablePointer<AVFrame>) throws(CodecError) -> AudioBuffer {
        let time = frame.pointee.best_effort_timestamp
        let pts = time == CLibAV_no_pts() ? nextPTS : time
        let buffer = try AudioBuffer(moving: frame, pts: pts, timescale: timescale)
        nextPTS = pts.addingReportingOverflow(buffer.duration).partialValue
        return buffer
    }
}
