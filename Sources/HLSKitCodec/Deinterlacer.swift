import CLibAV

/// Converts interlaced frames to progressive ones with libavfilter's `bwdif`, one for each, with the same time.
///
/// A frame is output after the next one has arrived. ``drain(to:)`` returns the last one. A frame without neighbours is
/// created from its first field, by `estdif`. If libavfilter fails, frames do not change. Use it on one thread at a
/// time.
final class Deinterlacer {
    private struct Source: Equatable {
        var width: Int
        var height: Int
        var format: Int32

        init(_ frame: VideoFrame) {
            (width, height, format) = (frame.width, frame.height, frame.pixelFormat.rawValue)
        }
    }

    private struct Graph {
        var graph: OpaquePointer
        var input: OpaquePointer
        var sink: OpaquePointer
        var source: Source
    }

    private let library: FilterLibrary
    private var graph: Graph?
    private var held: [VideoFrame] = []
    private var hasFailed = false
    private var isFirst = true
    private var isAlone = false

    init() throws(CodecError) { library = try FilterLibrary.required() }

    deinit { freeGraph() }

    func filter(_ frame: VideoFrame, to frames: inout [VideoFrame]) {
        guard !hasFailed else { return frames.append(frame) }
        if let graph, graph.source != Source(frame) { drain(to: &frames) }
        held.append(frame)
        run(to: &frames) { graph throws(CodecError) in
            var input = av_frame_clone(frame.storage.raw)
            defer { av_frame_free(&input) }
            guard let input else { throw CodecError(call: "av_frame_clone", code: CodecError.outOfMemory) }
            // A graph without colour settings accepts any frames whose colours are unspecified.
            input.pointee.colorspace = AVCOL_SPC_UNSPECIFIED
            input.pointee.color_range = AVCOL_RANGE_UNSPECIFIED
            let code = library.addFrame(graph.input, input)
            guard code >= 0 else { throw CodecError(call: "av_buffersrc_add_frame", code: code) }
        }
    }

    /// Appends the pending frames. Other frames may follow.
    func drain(to frames: inout [VideoFrame]) {
        if held.count == 1, isFirst, !hasFailed {
            freeGraph()
            let only = held[0]
            held = []
            isAlone = true
            filter(only, to: &frames)
        }
        if !held.isEmpty, !hasFailed {
            run(to: &frames) { graph throws(CodecError) in
                let code = library.addFrame(graph.input, nil)
                guard code >= 0 else { throw CodecError(call: "av_buffersrc_add_frame", code: code) }
            }
        }
        frames += held
        flush()
    }

    func flush() {
        held = []
        (isFirst, isAlone) = (true, false)
        freeGraph()
    }

    private func run(
        to frames: inout [VideoFrame], _ feed: (Graph) throws(CodecError) -> Void
    ) {
        do throws(CodecError) {
            if graph == nil, let first = held.first { graph = try makeGraph(for: Source(first)) }
            guard let graph else { return }
            try feed(graph)
            while !held.isEmpty, let frame = try next(from: graph, as: held[0]) {
                isFirst = false
                held.removeFirst()
                frames.append(frame)
            }
        } catch {
            hasFailed = true
            frames += held
            flush()
        }
    }

    private func next(from graph: Graph, as frame: VideoFrame) throws(CodecError) -> VideoFrame? {
        var output = av_frame_alloc()
        defer { av_frame_free(&output) }
        guard let output else { throw CodecError(call: "av_frame_alloc", code: CodecError.outOfMemory) }
        let code = library.getFrame(graph.sink, output)
        if code == CLibAV_error_again() || code == CLibAV_error_eof() { return nil }
        guard code >= 0 else { throw CodecError(call: "av_buffersink_get_frame", code: code) }
        output.pointee.colorspace = frame.storage.raw.pointee.colorspace
        output.pointee.color_range = frame.storage.raw.pointee.color_range
        return try VideoFrame(
            moving: output, pts: frame.pts, timescale: frame.timescale, duration: frame.duration,
            itemTime: frame.itemTime)
    }

    private func makeGraph(for source: Source) throws(CodecError) -> Graph {
        let (library, isAlone) = (library, isAlone)
        let (graph, ends) = try library.makeGraph { graph throws(CodecError) in
            let input = try library.makeFilter(
                "buffer",
                "video_size=\(source.width)x\(source.height):pix_fmt=\(source.format):time_base=1/90000"
                    + ":pixel_aspect=1/1",
                in: graph)
            let filter =
                isAlone
                ? try library.makeFilter("estdif", "mode=frame:parity=auto:deint=interlaced", in: graph)
                : try library.makeFilter("bwdif", "mode=send_frame:parity=auto:deint=interlaced", in: graph)
            let sink = try library.makeFilter("buffersink", nil, in: graph)
            try library.connect(input, to: filter)
            try library.connect(filter, to: sink)
            return (input, sink)
        }
        return Graph(graph: graph, input: ends.0, sink: ends.1, source: source)
    }

    private func freeGraph() {
        var graph = graph?.graph
        if graph != nil { library.freeGraph(&graph) }
        self.graph = nil
    }
}

extension VideoFrame {
    /// Whether the lines belong to two moments: the frame was recorded, or at least coded, in two fields.
    package var isInterlaced: Bool { CLibAV_frame_is_interlaced(storage.raw) != 0 }
}
