import CLibAV

/// Stretches or shortens interleaved audio without changing its pitch, with libavfilter's `atempo`.
///
/// The first output corresponds to the first input. The output sample `n` corresponds to the input sample at `n` times
/// the tempo, within some milliseconds. Use it on one thread at a time.
package final class TempoFilter {
    private let library: FilterLibrary
    private var graph: OpaquePointer?
    private let source: OpaquePointer
    private let sink: OpaquePointer
    private var layout = AVChannelLayout()
    private let sampleRate: Int
    private let channelCount: Int
    private var isFinished = false

    /// The range of one `atempo`. Outside of it, several are chained.
    private static let range = 0.5...100.0
    /// The filter gets half the true sample rate. Its pieces, which have a fixed length of 43 ms, are then half as
    /// long, and so is the largest displacement of the audio.
    private static let rateDivisor = 2
    /// The number of samples per channel to filter at once. It is small because the filter outputs pieces of this size.
    private static let pieceFrameCount = 512

    package init(tempo: Double, sampleRate: Int, channelCount: Int) throws(CodecError) {
        let library = try FilterLibrary.required()
        self.library = library
        self.sampleRate = sampleRate
        self.channelCount = channelCount
        av_channel_layout_default(&layout, Int32(clamping: channelCount))
        let name = Self.name(of: &layout)
        let rate = max(1, sampleRate / Self.rateDivisor)
        let (graph, ends) = try library.makeGraph { graph throws(CodecError) in
            let source = try library.makeFilter(
                "abuffer", "sample_rate=\(rate):sample_fmt=flt:channel_layout=\(name):time_base=1/\(rate)", in: graph)
            var last = source
            var rest = tempo
            repeat {
                let step = min(max(rest, Self.range.lowerBound), Self.range.upperBound)
                rest /= step
                let next = try library.makeFilter("atempo", "tempo=\(step)", in: graph)
                try library.connect(last, to: next)
                last = next
            } while rest < 0.999 || rest > 1.001
            let sink = try library.makeFilter("abuffersink", nil, in: graph)
            try library.connect(last, to: sink)
            return (source, sink)
        }
        self.graph = graph
        (source, sink) = ends
    }

    deinit {
        library.freeGraph(&graph)
        av_channel_layout_uninit(&layout)
    }

    package func process(_ samples: ArraySlice<Float>, into output: inout [Float]) throws(CodecError) {
        var rest = samples
        while !rest.isEmpty, !isFinished {
            let piece = rest.prefix(Self.pieceFrameCount * channelCount)
            rest = rest.dropFirst(piece.count)
            try add(piece)
            try drain(into: &output)
        }
    }

    /// Appends the rest. No further input is possible.
    package func finish(into output: inout [Float]) throws(CodecError) {
        guard !isFinished else { return }
        isFinished = true
        let code = library.addFrame(source, nil)
        guard code >= 0 else { throw CodecError(call: "av_buffersrc_add_frame", code: code) }
        try drain(into: &output)
    }

    private func add(_ samples: ArraySlice<Float>) throws(CodecError) {
        var frame = av_frame_alloc()
        defer { av_frame_free(&frame) }
        guard let frame else { throw CodecError(call: "av_frame_alloc", code: CodecError.outOfMemory) }
        frame.pointee.format = AV_SAMPLE_FMT_FLT.rawValue
        frame.pointee.sample_rate = Int32(clamping: max(1, sampleRate / Self.rateDivisor))
        frame.pointee.nb_samples = Int32(clamping: samples.count / channelCount)
        var code = av_channel_layout_copy(&frame.pointee.ch_layout, &layout)
        guard code >= 0 else { throw CodecError(call: "av_channel_layout_copy", code: code) }
        code = av_frame_get_buffer(frame, 0)
        guard code >= 0 else { throw CodecError(call: "av_frame_get_buffer", code: code) }
        samples.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, let target = CLibAV_frame_data(frame, 0) else { return }
            UnsafeMutableRawPointer(target).copyMemory(from: base, byteCount: bytes.count)
        }
        code = library.addFrame(source, frame)
        guard code >= 0 else { throw CodecError(call: "av_buffersrc_add_frame", code: code) }
    }

    private func drain(into output: inout [Float]) throws(CodecError) {
        var frame = av_frame_alloc()
        defer { av_frame_free(&frame) }
        guard let frame else { throw CodecError(call: "av_frame_alloc", code: CodecError.outOfMemory) }
        while true {
            let code = library.getFrame(sink, frame)
            if code == CLibAV_error_again() || code == CLibAV_error_eof() { return }
            guard code >= 0 else { throw CodecError(call: "av_buffersink_get_frame", code: code) }
            if let data = CLibAV_frame_data(frame, 0) {
                let count = Int(frame.pointee.nb_samples) * channelCount
                output.append(
                    contentsOf: UnsafeRawBufferPointer(start: data, count: count * MemoryLayout<Float>.size)
                        .bindMemory(to: Float.self))
            }
            av_frame_unref(frame)
        }
    }

    private static func name(of layout: inout AVChannelLayout) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            buffer.initialize(repeating: 0)
            guard let base = buffer.baseAddress, av_channel_layout_describe(&layout, base, buffer.count) >= 0 else {
                return ""
            }
            return String(cString: base)
        }
    }
}
