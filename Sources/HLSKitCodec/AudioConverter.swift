import CLibAV

/// Converts buffers of any rate, channels and sample form to interleaved audio of one form.
///
/// The output has the rate and channels of the first buffer, or with `followsInput` of each buffer. When the input
/// changes, the converter first outputs all samples that the resampler holds. Use it on one thread at a time.
package final class AudioConverter {
    private struct Format: Equatable {
        var sampleRate: Int
        var channelCount: Int
        var layoutName: String
        var sampleFormat: AVSampleFormat
    }

    private let targetSampleFormat: AVSampleFormat
    private let followsInput: Bool
    private var resampler: OpaquePointer?
    private var input: Format?
    private var output: Format?
    private var outputLayout = AVChannelLayout()
    private var scratch: UnsafeMutablePointer<UInt8>?
    private var scratchByteCount = 0

    private let targetSampleRate: Int?
    private let targetChannelCount: Int?

    /// - Parameters:
    ///   - sampleRate: The output rate, or nil to follow the rule above.
    ///   - channelCount: The number of output channels, or nil to follow the rule above.
    package init(
        to format: AudioBuffer.InterleavedFormat, followsInput: Bool = false, sampleRate: Int? = nil,
        channelCount: Int? = nil
    ) {
        targetSampleRate = sampleRate
        targetChannelCount = channelCount
        targetSampleFormat = format == .int16 ? AV_SAMPLE_FMT_S16 : AV_SAMPLE_FMT_FLT
        self.followsInput = followsInput
    }

    deinit {
        swr_free(&resampler)
        av_channel_layout_uninit(&outputLayout)
        scratch?.deallocate()
    }

    package var channelCount: Int? { output?.channelCount }
    /// Whether the rate changes, so that the output is slightly shorter or longer than the input.
    package var isResampling: Bool { input?.sampleRate != output?.sampleRate }
    package var sampleRate: Int? { output?.sampleRate }
    /// FFmpeg's name of the output channels, or nil before the first buffer.
    package var channelLayoutName: String? { output?.layoutName }

    package func convert(_ buffer: AudioBuffer, into samples: inout [UInt8]) throws(CodecError) {
        let format = Format(
            sampleRate: buffer.sampleRate, channelCount: buffer.channelCount, layoutName: buffer.channelLayoutName,
            sampleFormat: buffer.sampleFormat)
        if format != input {
            try flush(into: &samples)
            try open(for: buffer, format: format)
        }
        try run(buffer.storage.raw.pointee.extended_data, frameCount: buffer.frameCount, into: &samples)
    }

    package func flush(into samples: inout [UInt8]) throws(CodecError) {
        guard resampler != nil else { return }
        // If the rate does not change, there is no filter and no pending sample.
        if input?.sampleRate != output?.sampleRate { try run(nil, frameCount: 0, into: &samples) }
        swr_free(&resampler)
        input = nil
    }

    private func open(for buffer: AudioBuffer, format: Format) throws(CodecError) {
        try ResampleLibrary.check()
        if output == nil || followsInput {
            let isOther = targetChannelCount != nil && targetChannelCount != format.channelCount
            output = Format(
                sampleRate: targetSampleRate ?? format.sampleRate,
                channelCount: targetChannelCount ?? format.channelCount, layoutName: isOther ? "" : format.layoutName,
                sampleFormat: targetSampleFormat)
            av_channel_layout_uninit(&outputLayout)
            if let targetChannelCount, isOther {
                av_channel_layout_default(&outputLayout, Int32(clamping: targetChannelCount))
            } else {
                let code = av_channel_layout_copy(&outputLayout, &buffer.storage.raw.pointee.ch_layout)
                guard code >= 0 else { throw CodecError(call: "av_channel_layout_copy", code: code) }
            }
        }
        guard let output else { return }
        var code = ResampleLibrary.allocate(
            &resampler, to: &outputLayout, output.sampleFormat, Int32(output.sampleRate),
            from: &buffer.storage.raw.pointee.ch_layout, format.sampleFormat, Int32(format.sampleRate))
        guard code >= 0 else { throw CodecError(call: "swr_alloc_set_opts2", code: code) }
        code = swr_init(resampler)
        guard code >= 0 else {
            swr_free(&resampler)
            throw CodecError(call: "swr_init", code: code)
        }
        input = format
    }

    private func run(
        _ planes: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?, frameCount: Int,
        into samples: inout [UInt8]
    ) throws(CodecError) {
        guard let output else { return }
        let capacity = swr_get_out_samples(resampler, Int32(frameCount))
        guard capacity >= 0 else { throw CodecError(call: "swr_get_out_samples", code: capacity) }
        let frameSize = output.channelCount * Int(av_get_bytes_per_sample(output.sampleFormat))
        reserve(Int(capacity) * frameSize)
        var destination = scratch
        let source = planes.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: UnsafePointer<UInt8>?.self) }
        let converted = swr_convert(resampler, &destination, capacity, source, Int32(frameCount))
        guard converted >= 0 else { throw CodecError(call: "swr_convert", code: converted) }
        samples.append(contentsOf: UnsafeRawBufferPointer(start: scratch, count: Int(converted) * frameSize))
    }

    private func reserve(_ byteCount: Int) {
        guard byteCount > scratchByteCount || scratch == nil else { return }
        scratch?.deallocate()
        scratchByteCount = max(byteCount, 64 * 1024)
        scratch = .allocate(capacity: scratchByteCount)
    }
}
