import CLibAV

/// FFmpeg's libavformat, opened when the first file is written. As ``CodecLibrary``, it is not linked.
struct FormatLibrary: Sendable {
    typealias Context = UnsafeMutablePointer<AVFormatContext>
    typealias Writer = UnsafeMutablePointer<AVIOContext>

    let version: @convention(c) () -> UInt32
    let allocateContext:
        @convention(c) (
            UnsafeMutablePointer<Context?>?, UnsafePointer<AVOutputFormat>?, UnsafePointer<CChar>?,
            UnsafePointer<CChar>?
        ) -> Int32
    let freeContext: @convention(c) (Context?) -> Void
    let newStream: @convention(c) (Context?, UnsafePointer<AVCodec>?) -> UnsafeMutablePointer<AVStream>?
    let newSideData:
        @convention(c) (UnsafeMutablePointer<AVStream>?, AVPacketSideDataType, Int) -> UnsafeMutablePointer<UInt8>?
    let writeHeader: @convention(c) (Context?, UnsafeMutablePointer<OpaquePointer?>?) -> Int32
    let writeInterleaved: @convention(c) (Context?, UnsafeMutablePointer<AVPacket>?) -> Int32
    let writeTrailer: @convention(c) (Context?) -> Int32
    let allocateWriter: CLibAV_writer_allocation
    let freeWriter: @convention(c) (UnsafeMutablePointer<Writer?>?) -> Void
    let flushWriter: @convention(c) (Writer?) -> Void

    private static let loading: Result<FormatLibrary, DynamicLibrary.Failure> = Result {
        () throws(DynamicLibrary.Failure) in try FormatLibrary(DynamicLibrary(name))
    }
    /// nil if the library is not installed, or cannot be loaded.
    static let installed = try? loading.get()
    /// Throws where it is not, and says why.
    static func check() throws(CodecError) { try DynamicLibrary.check(loading, name) }
    /// Of the version that this was compiled for.
    static let name = "libavformat.so.\(LIBAVFORMAT_VERSION_MAJOR)"

    private init(_ library: DynamicLibrary) throws(DynamicLibrary.Failure) {
        version = try library.symbol("avformat_version")
        allocateContext = try library.symbol("avformat_alloc_output_context2")
        freeContext = try library.symbol("avformat_free_context")
        newStream = try library.symbol("avformat_new_stream")
        newSideData = try library.symbol("av_stream_new_side_data")
        writeHeader = try library.symbol("avformat_write_header")
        writeInterleaved = try library.symbol("av_interleaved_write_frame")
        writeTrailer = try library.symbol("av_write_trailer")
        allocateWriter = try library.symbol("avio_alloc_context")
        freeWriter = try library.symbol("avio_context_free")
        flushWriter = try library.symbol("avio_flush")
    }
}

// MARK: The library's functions

func avformat_version() -> UInt32 {
    FormatLibrary.installed?.version() ?? 0
}

func avformat_alloc_output_context2(
    _ a: UnsafeMutablePointer<FormatLibrary.Context?>?, _ b: UnsafePointer<AVOutputFormat>?, _ c: UnsafePointer<CChar>?,
    _ d: UnsafePointer<CChar>?
) -> Int32 {
    FormatLibrary.installed?.allocateContext(a, b, c, d) ?? CodecError.noLibrary
}

func avformat_free_context(_ a: FormatLibrary.Context?) {
    FormatLibrary.installed?.freeContext(a)
}

func avformat_new_stream(
    _ a: FormatLibrary.Context?, _ b: UnsafePointer<AVCodec>?
) -> UnsafeMutablePointer<AVStream>? {
    FormatLibrary.installed?.newStream(a, b)
}

func av_stream_new_side_data(
    _ a: UnsafeMutablePointer<AVStream>?, _ b: AVPacketSideDataType, _ c: Int
) -> UnsafeMutablePointer<UInt8>? {
    FormatLibrary.installed?.newSideData(a, b, c)
}

func avformat_write_header(_ a: FormatLibrary.Context?, _ b: UnsafeMutablePointer<OpaquePointer?>?) -> Int32 {
    FormatLibrary.installed?.writeHeader(a, b) ?? CodecError.noLibrary
}

func av_interleaved_write_frame(_ a: FormatLibrary.Context?, _ b: UnsafeMutablePointer<AVPacket>?) -> Int32 {
    FormatLibrary.installed?.writeInterleaved(a, b) ?? CodecError.noLibrary
}

func av_write_trailer(_ a: FormatLibrary.Context?) -> Int32 {
    FormatLibrary.installed?.writeTrailer(a) ?? CodecError.noLibrary
}

func avio_context_free(_ a: UnsafeMutablePointer<FormatLibrary.Writer?>?) {
    FormatLibrary.installed?.freeWriter(a)
}

func avio_flush(_ a: FormatLibrary.Writer?) {
    FormatLibrary.installed?.flushWriter(a)
}
