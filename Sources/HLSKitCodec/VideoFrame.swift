import CLibAV
public import HLSKitTime

/// One decoded frame.
///
/// A frame is immutable, and threads can share it because copies share the pixels.
public final class VideoFrame: Sendable {
    /// Rows of samples of one colour component, or of several in packed and semi-planar formats.
    public struct Plane {
        /// The bytes of the rows with their padding.
        ///
        /// The pointer is valid only during the call that provided it.
        public let bytes: UnsafeRawBufferPointer
        /// The distance from one row to the next.
        public let bytesPerRow: Int
        /// The bytes of a row that contain pixels.
        ///
        /// The rest is padding.
        public let pictureBytesPerRow: Int
        /// The number of rows.
        public let rowCount: Int
    }

    /// The colour tags of a frame, in the code points of ITU-T H.273. 2 means unspecified.
    public struct ColorTags: Sendable, Hashable {
        package var primaries: Int
        package var transfer: Int
        package var matrix: Int
        package var isFullRange: Bool?
        /// `chroma_sample_loc_type` of H.264 and HEVC, 0 (left) to 5, or nil if unspecified.
        package var chromaLocation: Int?
    }

    /// A ratio of two positive integers.
    public struct Ratio: Sendable, Hashable {
        /// Relative to ``denominator``.
        public var numerator: Int
        /// Relative to ``numerator``; above 0.
        public var denominator: Int

        /// Creates a ratio without reducing it.
        public init(numerator: Int, denominator: Int) {
            self.numerator = numerator
            self.denominator = denominator
        }
    }

    /// The presentation time as in the container, in units of the track's timescale.
    public let pts: Int64
    /// The units of ``pts`` and ``duration`` per second.
    public let timescale: Int32
    /// The duration of the frame, in units of the timescale.
    ///
    /// It comes from the container, or else from the stream's frame rate. It is 0 if neither is declared.
    public let duration: Int64
    /// The presentation time on the item's timeline, or `nil` until the frame has been placed.
    public let itemTime: MediaTime?
    /// The width in pixels, after cropping.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// FFmpeg's name for the layout of the pixels, such as `yuv420p` or `yuv420p10le`.
    public let pixelFormatName: String
    /// The shape of a pixel, width to height, or `nil` if undeclared.
    public let sampleAspectRatio: Ratio?
    /// The meaning of the colour values.
    public let colorTags: ColorTags
    /// A Boolean value that indicates whether decoding can start at this frame.
    public let isKey: Bool

    let storage: FrameStorage

    /// Returns the same frame at `itemTime` on the item's timeline. No pixel is copied.
    package func placed(at itemTime: MediaTime) -> VideoFrame {
        VideoFrame(sharing: self, itemTime: itemTime)
    }

    /// Calls `body` with the planes, with luma (or the only plane) first.
    ///
    /// The pixels are not copied. The pointers are valid only during the call.
    public func withPlanes<Result, Failure: Error>(
        _ body: ([Plane]) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(planes)
    }

    /// Takes over the contents of `frame`. Throws if it has no pixels in memory.
    init(
        moving frame: UnsafeMutablePointer<AVFrame>, pts: Int64, timescale: Int32, duration: Int64,
        itemTime: MediaTime? = nil
    ) throws(CodecError) {
        let fields = frame.pointee
        guard fields.width > 0, fields.height > 0, let name = av_get_pix_fmt_name(AVPixelFormat(fields.format)),
            Self.hasPlanes(frame)
        else {
            throw CodecError(
                call: "avcodec_receive_frame", code: CodecError.invalidArgument,
                text: "frame of \(fields.width)x\(fields.height) without pixels")
        }
        self.pts = pts
        self.timescale = timescale
        self.duration = duration
        self.itemTime = itemTime
        width = Int(fields.width)
        height = Int(fields.height)
        pixelFormatName = String(cString: name)
        let shape = fields.sample_aspect_ratio
        sampleAspectRatio =
            shape.num > 0 && shape.den > 0
            ? Ratio(numerator: Int(shape.num), denominator: Int(shape.den)) : nil
        colorTags = ColorTags(
            primaries: Int(fields.color_primaries.rawValue), transfer: Int(fields.color_trc.rawValue),
            matrix: Int(fields.colorspace.rawValue), isFullRange: Self.isFullRange(fields.color_range),
            chromaLocation: fields.chroma_location == AVCHROMA_LOC_UNSPECIFIED
                ? nil : Int(fields.chroma_location.rawValue) - 1)
        isKey = CLibAV_frame_is_key(frame) != 0
        storage = try FrameStorage(moving: frame)
    }

    private init(sharing other: VideoFrame, itemTime: MediaTime) {
        pts = other.pts
        timescale = other.timescale
        duration = other.duration
        self.itemTime = itemTime
        width = other.width
        height = other.height
        pixelFormatName = other.pixelFormatName
        sampleAspectRatio = other.sampleAspectRatio
        colorTags = other.colorTags
        isKey = other.isKey
        storage = other.storage
    }

    var pixelFormat: AVPixelFormat { AVPixelFormat(storage.raw.pointee.format) }

    private static func isFullRange(_ range: AVColorRange) -> Bool? {
        switch range {
        case AVCOL_RANGE_JPEG: true
        case AVCOL_RANGE_MPEG: false
        default: nil
        }
    }

    private static func hasPlanes(_ frame: UnsafeMutablePointer<AVFrame>) -> Bool {
        let format = AVPixelFormat(frame.pointee.format)
        let count = av_pix_fmt_count_planes(format)
        guard count > 0 else { return false }
        return (0..<count).allSatisfy { plane in
            let rowSize = av_image_get_linesize(format, frame.pointee.width, plane)
            return CLibAV_frame_data(frame, plane) != nil && rowSize > 0
                && CLibAV_frame_linesize(frame, plane) >= rowSize
        }
    }

    private var planes: [Plane] {
        let frame = storage.raw
        let shift = av_pix_fmt_desc_get(pixelFormat)?.pointee.log2_chroma_h ?? 0
        return (0..<av_pix_fmt_count_planes(pixelFormat)).map { plane in
            let isChroma = plane == 1 || plane == 2
            let rowCount = isChroma ? (height + (1 << Int(shift)) - 1) >> Int(shift) : height
            let bytesPerRow = Int(CLibAV_frame_linesize(frame, plane))
            let pictureBytesPerRow = Int(av_image_get_linesize(pixelFormat, Int32(width), plane))
            let bytes = UnsafeRawBufferPointer(
                start: CLibAV_frame_data(frame, plane), count: bytesPerRow * (rowCount - 1) + pictureBytesPerRow)
            return Plane(
                bytes: bytes, bytesPerRow: bytesPerRow, pictureBytesPerRow: pictureBytesPerRow, rowCount: rowCount)
        }
    }
}

extension VideoFrame.Plane {
    /// Calls `body` with the frame's bytes in as few pieces as the padding allows.
    package func forEachRun<Failure: Error>(_ body: (UnsafeRawBufferPointer) throws(Failure) -> Void) throws(Failure) {
        if bytesPerRow == pictureBytesPerRow {
            try body(bytes)
            return
        }
        for row in 0..<rowCount {
            let start = row * bytesPerRow
            try body(UnsafeRawBufferPointer(rebasing: bytes[start..<start + pictureBytesPerRow]))
        }
    }
}
