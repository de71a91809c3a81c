import CLibAV

/// Converts frames with other primaries or transfer functions to ITU-R BT.709 in limited range.
///
/// It uses libavfilter's `zscale` (zimg), and its `tonemap` maps high dynamic range to standard range. The pixel format
/// does not change. Use it on one thread at a time.
final class ColorTransformer {
    private struct Source: Equatable {
        var width: Int
        var height: Int
        var format: Int32
        var color: Color
    }

    /// Code points of ITU-T H.273, all of them specified.
    private struct Color: Equatable {
        var primaries: Int
        var transfer: Int
        var matrix: Int
        var isFullRange: Bool
    }

    private struct Graph {
        var graph: OpaquePointer
        var source: OpaquePointer
        var sink: OpaquePointer
    }

    private let library: FilterLibrary
    private var graph: Graph?
    private var source: Source?

    init() throws(CodecError) {
        library = try FilterLibrary.required()
    }

    deinit { freeGraph() }

    private func freeGraph() {
        var graph = graph?.graph
        if graph != nil { library.freeGraph(&graph) }
        self.graph = nil
    }

    /// Whether converting a frame to BT.709 requires more than another matrix and range.
    static func isNeeded(for frame: VideoFrame) -> Bool {
        let color = color(of: frame)
        return color.primaries != 1 || !Self.likeBT709.contains(color.transfer)
    }

    /// Transfer functions with the same curve as BT.709.
    private static let likeBT709: Set<Int> = [1, 6, 14, 15]

    /// Undeclared values are inferred from the rest.
    private static func color(of frame: VideoFrame) -> Color {
        let tags = frame.colorTags
        let isWide = tags.matrix == 9 || tags.matrix == 10 || !tags.isStandardRange
        return Color(
            primaries: tags.primaries == 2 ? (isWide ? 9 : 1) : tags.primaries,
            transfer: tags.transfer == 2 ? 1 : tags.transfer,
            matrix: tags.matrix == 2 && isWide ? 9 : FrameScaler.matrix(of: frame),
            isFullRange: FrameScaler.isFullRange(frame))
    }

    func transform(_ frame: VideoFrame) throws(CodecError) -> VideoFrame {
        let source = Source(
            width: frame.width, height: frame.height, format: frame.pixelFormat.rawValue, color: Self.color(of: frame))
        if graph == nil || self.source != source {
            freeGraph()
            graph = try makeGraph(for: source)
            self.source = source
        }
        guard let graph else { throw CodecError(call: "avfilter_graph_alloc", code: CodecError.outOfMemory) }
        do throws(CodecError) {
            return try run(frame, through: graph)
        } catch {
            // The state of a graph after an error is undefined.
            freeGraph()
            throw error
        }
    }

    private func run(_ frame: VideoFrame, through graph: Graph) throws(CodecError) -> VideoFrame {
        var input = av_frame_clone(frame.storage.raw)
        defer { av_frame_free(&input) }
        guard let input else { throw CodecError(call: "av_frame_clone", code: CodecError.outOfMemory) }
        // The graph has its own colour settings. It would first convert frames that declare other colors.
        Self.setColor(of: input, primaries: 2, transfer: 2, matrix: 2, range: AVCOL_RANGE_UNSPECIFIED)
        var code = library.addFrame(graph.source, input)
        guard code >= 0 else { throw CodecError(call: "av_buffersrc_add_frame", code: code) }
        var output = av_frame_alloc()
        defer { av_frame_free(&output) }
        guard let output else { throw CodecError(call: "av_frame_alloc", code: CodecError.outOfMemory) }
        code = library.getFrame(graph.sink, output)
        guard code >= 0 else { throw CodecError(call: "av_buffersink_get_frame", code: code) }
        av_frame_copy_props(output, frame.storage.raw)
        // The source's brightness no longer applies.
        for type in [AV_FRAME_DATA_MASTERING_DISPLAY_METADATA, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL] {
            av_frame_remove_side_data(output, type)
        }
        Self.setColor(of: output, primaries: 1, transfer: 1, matrix: 1, range: AVCOL_RANGE_MPEG)
        return try VideoFrame(
            moving: output, pts: frame.pts, timescale: frame.timescale, duration: frame.duration,
            itemTime: frame.itemTime)
    }

    private static func setColor(
        of frame: UnsafeMutablePointer<AVFrame>, primaries: UInt32, transfer: UInt32, matrix: UInt32,
        range: AVColorRange
    ) {
        frame.pointee.color_primaries = AVColorPrimaries(rawValue: primaries)
        frame.pointee.color_trc = AVColorTransferCharacteristic(rawValue: transfer)
        frame.pointee.colorspace = AVColorSpace(rawValue: matrix)
        frame.pointee.color_range = range
    }

    private func makeGraph(for source: Source) throws(CodecError) -> Graph {
        let library = library
        let (graph, ends) = try library.makeGraph { graph throws(CodecError) in
            let buffer = try library.makeFilter(
                "buffer",
                "video_size=\(source.width)x\(source.height):pix_fmt=\(source.format):time_base=1/90000"
                    + ":pixel_aspect=1/1",
                in: graph)
            var last = buffer
            for (name, arguments) in Self.steps(from: source) {
                let next = try library.makeFilter(name, arguments, in: graph)
                try library.connect(last, to: next)
                last = next
            }
            let sink = try library.makeFilter("buffersink", nil, in: graph)
            try library.connect(last, to: sink)
            return (buffer, sink)
        }
        return Graph(graph: graph, source: ends.0, sink: ends.1)
    }

    private static func steps(from source: Source) -> [(String, String)] {
        let color = source.color
        let input =
            "pin=\(color.primaries):tin=\(color.transfer):min=\(color.matrix)"
            + ":rin=\(color.isFullRange ? "full" : "limited")"
        let format = ("format", "pix_fmts=\(source.format)")
        guard TransferFunction(rawValue: color.transfer).isHighDynamicRange else {
            return [("zscale", input + ":p=bt709:t=bt709:m=bt709:r=limited"), format]
        }
        return [
            // White in standard range is 100 cd/m².
            ("zscale", input + ":p=bt709:t=linear:m=gbr:r=full:npl=100"), ("format", "pix_fmts=gbrpf32le"),
            ("tonemap", "tonemap=hable:desat=0"),
            ("zscale", "pin=bt709:tin=linear:min=gbr:rin=full:p=bt709:t=bt709:m=bt709:r=limited"), format,
        ]
    }
}
