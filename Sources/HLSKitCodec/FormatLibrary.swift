import CLibAV
import HLSKitLoading

/// FFmpeg's libavformat, opened when the first file is written. Like ``CodecLibrary``, it is not linked.
enum FormatLibrary {
    typealias Context = UnsafeMutablePointer<AVFormatContext>
    typealias Writer = UnsafeMutablePointer<AVIOContext>

    private static let library = LibraryFunctions(CLibAV_format_file(), find: CLibAV_format_find)

    static var installed: UnsafePointer<CLibAV_format>? { library.table }
    static func check() throws(CodecError) { try library.check() }
}

// MARK: The library's functions

func avformat_version() -> UInt32 {
    FormatLibrary.installed?.pointee.avformat_version() ?? 0
}

func avformat_alloc_output_context2(
    _ a: UnsafeMutablePointer<FormatLibrary.Context?>?, _ b: UnsafePointer<AVOutputFormat>?, _ c: UnsafePointer<CChar>?,
    _ d: UnsafePointer<CChar>?
) -> Int32 {
    FormatLibrary.installed?.pointee.avformat_alloc_output_context2(a, b, c, d) ?? CodecError.noLibrary
}

func avformat_free_context(_ a: FormatLibrary.Context?) {
    FormatLibrary.installed?.pointee.avformat_free_context(a)
}

func avformat_new_stream(
    _ a: FormatLibrary.Context?, _ b: UnsafePointer<AVCodec>?
) -> UnsafeMutablePointer<AVStream>? {
    FormatLibrary.installed?.pointee.avformat_new_stream(a, b)
}

func av_stream_new_side_data(
    _ a: UnsafeMutablePointer<AVStream>?, _ b: AVPacketSideDataType, _ c: Int
) -> UnsafeMutablePointer<UInt8>? {
    FormatLibrary.installed?.pointee.av_stream_new_side_data(a, b, c)
}

func avformat_write_header(_ a: FormatLibrary.Context?, _ b: UnsafeMutablePointer<OpaquePointer?>?) -> Int32 {
    FormatLibrary.installed?.pointee.avformat_write_header(a, b) ?? CodecError.noLibrary
}

func av_interleaved_write_frame(_ a: FormatLibrary.Context?, _ b: UnsafeMutablePointer<AVPacket>?) -> Int32 {
    FormatLibrary.installed?.pointee.av_interleaved_write_frame(a, b) ?? CodecError.noLibrary
}

func av_write_trailer(_ a: FormatLibrary.Context?) -> Int32 {
    FormatLibrary.installed?.pointee.av_write_trailer(a) ?? CodecError.noLibrary
}

func avio_context_free(_ a: UnsafeMutablePointer<FormatLibrary.Writer?>?) {
    FormatLibrary.installed?.pointee.avio_context_free(a)
}

func avio_flush(_ a: FormatLibrary.Writer?) {
    FormatLibrary.installed?.pointee.avio_flush(a)
}

// MARK: Reading

func av_find_input_format(_ a: UnsafePointer<CChar>?) -> UnsafePointer<AVInputFormat>? {
    FormatLibrary.installed?.pointee.av_find_input_format(a)
}

func avformat_alloc_context() -> FormatLibrary.Context? { FormatLibrary.installed?.pointee.avformat_alloc_context() }

func avformat_open_input(
    _ a: UnsafeMutablePointer<FormatLibrary.Context?>?, _ b: UnsafePointer<CChar>?, _ c: UnsafePointer<AVInputFormat>?,
    _ d: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    FormatLibrary.installed?.pointee.avformat_open_input(a, b, c, d) ?? CodecError.noLibrary
}

func avformat_close_input(_ a: UnsafeMutablePointer<FormatLibrary.Context?>?) {
    FormatLibrary.installed?.pointee.avformat_close_input(a)
}

func avformat_find_stream_info(_ a: FormatLibrary.Context?, _ b: UnsafeMutablePointer<OpaquePointer?>?) -> Int32 {
    FormatLibrary.installed?.pointee.avformat_find_stream_info(a, b) ?? CodecError.noLibrary
}

func av_read_frame(_ a: FormatLibrary.Context?, _ b: UnsafeMutablePointer<AVPacket>?) -> Int32 {
    FormatLibrary.installed?.pointee.av_read_frame(a, b) ?? CodecError.noLibrary
}

func av_seek_frame(_ a: FormatLibrary.Context?, _ b: Int32, _ c: Int64, _ d: Int32) -> Int32 {
    FormatLibrary.installed?.pointee.av_seek_frame(a, b, c, d) ?? CodecError.noLibrary
}

func avformat_index_get_entries_count(_ a: UnsafePointer<AVStream>?) -> Int32 {
    FormatLibrary.installed?.pointee.avformat_index_get_entries_count(a) ?? 0
}
