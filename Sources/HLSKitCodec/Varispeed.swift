import CLibAV

/// Changes the speed and pitch of interleaved audio by resampling. Use it on one thread at a time.
package final class Varispeed {
    private var resampler: OpaquePointer?
    private let channelCount: Int

    package init(rate: Double, sampleRate: Int, channelCount: Int) throws(CodecError) {
        self.channelCount = channelCount
        try ResampleLibrary.check()
        var layout = AVChannelLayout()
        av_channel_layout_default(&layout, Int32(clamping: channelCount))
        defer { av_channel_layout_uninit(&layout) }
        var outputLayout = layout
        let inputRate = Int32(min(max((Double(sampleRate) * rate).rounded(), 1), 1e8))
        var code = ResampleLibrary.allocate(
            &resampler, to: &outputLayout, AV_SAMPLE_FMT_FLT, Int32(clamping: sampleRate), from: &layout,
            AV_SAMPLE_FMT_FLT, inputRate)
        guard code >= 0 else { throw CodecError(call: "swr_alloc_set_opts2", code: code) }
        code = swr_init(resampler)
        guard code >= 0 else {
            swr_free(&resampler)
            throw CodecError(call: "swr_init", code: code)
        }
    }

    deinit { swr_free(&resampler) }

    package func process(_ samples: ArraySlice<Float>, into output: inout [Float]) throws(CodecError) {
        guard !samples.isEmpty else { return }
        let count = Int32(clamping: samples.count / channelCount)
        var failure: CodecError?
        samples.withUnsafeBytes { bytes in
            var source = bytes.bindMemory(to: UInt8.self).baseAddress
            do throws(CodecError) { try run(&source, count, into: &output) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    package func finish(into output: inout [Float]) throws(CodecError) { try run(nil, 0, into: &output) }

    private func run(
        _ source: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ count: Int32, into output: inout [Float]
    ) throws(CodecError) {
        let capacity = swr_get_out_samples(resampler, count)
        guard capacity > 0 else { return }
        var failure: CodecError?
        let samples = [Float](unsafeUninitializedCapacity: Int(capacity) * channelCount) { buffer, used in
            var target = UnsafeMutableRawPointer(buffer.baseAddress)?.assumingMemoryBound(to: UInt8.self)
            let converted = swr_convert(resampler, &target, capacity, source, count)
            if converted < 0 { failure = CodecError(call: "swr_convert", code: converted) }
            used = Int(max(0, converted)) * channelCount
        }
        if let failure { throw failure }
        output += samples
    }
}
