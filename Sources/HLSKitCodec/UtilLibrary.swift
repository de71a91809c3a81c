import CLibAV
import HLSKitLoading

/// FFmpeg's libavutil: memory, options, frames, and error messages. Like ``CodecLibrary``, it is not linked. Opening
/// libavcodec also opens it.
enum UtilLibrary {
    private static let library = LibraryFunctions(CLibAV_util_file(), find: CLibAV_util_find)

    static var installed: UnsafePointer<CLibAV_util>? { library.table }
    static func check() throws(CodecError) { try library.check() }
}

private var util: UnsafePointer<CLibAV_util>? { UtilLibrary.installed }

// MARK: Memory, options, errors

func av_malloc(_ a: Int) -> UnsafeMutableRawPointer? { util?.pointee.av_malloc(a) }

func av_mallocz(_ a: Int) -> UnsafeMutableRawPointer? { util?.pointee.av_mallocz(a) }

func av_free(_ a: UnsafeMutableRawPointer?) { util?.pointee.av_free(a) }

func av_freep(_ a: UnsafeMutableRawPointer?) { util?.pointee.av_freep(a) }

func av_buffer_create(
    _ a: UnsafeMutablePointer<UInt8>?, _ b: Int,
    _ c: (@convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?) -> Void)?,
    _ d: UnsafeMutableRawPointer?, _ e: Int32
) -> UnsafeMutablePointer<AVBufferRef>? {
    util?.pointee.av_buffer_create(a, b, c, d, e)
}

@discardableResult
func av_dict_set(
    _ a: UnsafeMutablePointer<OpaquePointer?>?, _ b: UnsafePointer<CChar>?, _ c: UnsafePointer<CChar>?, _ d: Int32
) -> Int32 {
    util?.pointee.av_dict_set(a, b, c, d) ?? CodecError.noLibrary
}

func av_dict_get(
    _ a: OpaquePointer?, _ b: UnsafePointer<CChar>?, _ c: UnsafePointer<AVDictionaryEntry>?, _ d: Int32
) -> UnsafeMutablePointer<AVDictionaryEntry>? {
    util?.pointee.av_dict_get(a, b, c, d)
}

func av_dict_free(_ a: UnsafeMutablePointer<OpaquePointer?>?) { util?.pointee.av_dict_free(a) }

@discardableResult
func av_opt_set(
    _ a: UnsafeMutableRawPointer?, _ b: UnsafePointer<CChar>?, _ c: UnsafePointer<CChar>?, _ d: Int32
) -> Int32 {
    util?.pointee.av_opt_set(a, b, c, d) ?? CodecError.noLibrary
}

@discardableResult
func av_strerror(_ a: Int32, _ b: UnsafeMutablePointer<CChar>?, _ c: Int) -> Int32 {
    util?.pointee.av_strerror(a, b, c) ?? CodecError.noLibrary
}

func av_log_get_level() -> Int32 { util?.pointee.av_log_get_level() ?? AV_LOG_QUIET }

func av_log_set_level(_ a: Int32) { util?.pointee.av_log_set_level(a) }

// MARK: Times

// Without the library, no value with a time exists.
func av_rescale(_ a: Int64, _ b: Int64, _ c: Int64) -> Int64 {
    util?.pointee.av_rescale(a, b, c) ?? CLibAV_no_pts()
}

func av_rescale_q(_ a: Int64, _ b: AVRational, _ c: AVRational) -> Int64 {
    util?.pointee.av_rescale_q(a, b, c) ?? CLibAV_no_pts()
}

// MARK: Hashes

func av_md5_alloc() -> OpaquePointer? { util?.pointee.av_md5_alloc() }

func av_md5_init(_ a: OpaquePointer?) { util?.pointee.av_md5_init(a) }

func av_md5_update(_ a: OpaquePointer?, _ b: UnsafePointer<UInt8>?, _ c: Int) { util?.pointee.av_md5_update(a, b, c) }

func av_md5_final(_ a: OpaquePointer?, _ b: UnsafeMutablePointer<UInt8>?) { util?.pointee.av_md5_final(a, b) }

func av_murmur3_alloc() -> OpaquePointer? { util?.pointee.av_murmur3_alloc() }

func av_murmur3_init(_ a: OpaquePointer?) { util?.pointee.av_murmur3_init(a) }

func av_murmur3_update(_ a: OpaquePointer?, _ b: UnsafePointer<UInt8>?, _ c: Int) {
    util?.pointee.av_murmur3_update(a, b, c)
}

func av_murmur3_final(_ a: OpaquePointer?, _ b: UnsafeMutablePointer<UInt8>?) {
    util?.pointee.av_murmur3_final(a, b)
}

// MARK: Pixels

func av_get_pix_fmt(_ a: UnsafePointer<CChar>?) -> AVPixelFormat {
    util?.pointee.av_get_pix_fmt(a) ?? AV_PIX_FMT_NONE
}

func av_get_pix_fmt_name(_ a: AVPixelFormat) -> UnsafePointer<CChar>? { util?.pointee.av_get_pix_fmt_name(a) }

func av_pix_fmt_desc_get(_ a: AVPixelFormat) -> UnsafePointer<AVPixFmtDescriptor>? {
    util?.pointee.av_pix_fmt_desc_get(a)
}

func av_pix_fmt_count_planes(_ a: AVPixelFormat) -> Int32 { util?.pointee.av_pix_fmt_count_planes(a) ?? 0 }

func av_image_get_linesize(_ a: AVPixelFormat, _ b: Int32, _ c: Int32) -> Int32 {
    util?.pointee.av_image_get_linesize(a, b, c) ?? 0
}

// MARK: Samples

func av_get_bytes_per_sample(_ a: AVSampleFormat) -> Int32 { util?.pointee.av_get_bytes_per_sample(a) ?? 0 }

func av_get_sample_fmt_name(_ a: AVSampleFormat) -> UnsafePointer<CChar>? { util?.pointee.av_get_sample_fmt_name(a) }

func av_sample_fmt_is_planar(_ a: AVSampleFormat) -> Int32 { util?.pointee.av_sample_fmt_is_planar(a) ?? 0 }

func av_samples_set_silence(
    _ a: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?, _ b: Int32, _ c: Int32, _ d: Int32, _ e: AVSampleFormat
) -> Int32 {
    util?.pointee.av_samples_set_silence(a, b, c, d, e) ?? CodecError.noLibrary
}

func av_channel_layout_copy(
    _ a: UnsafeMutablePointer<AVChannelLayout>?, _ b: UnsafePointer<AVChannelLayout>?
) -> Int32 {
    util?.pointee.av_channel_layout_copy(a, b) ?? CodecError.noLibrary
}

func av_channel_layout_default(_ a: UnsafeMutablePointer<AVChannelLayout>?, _ b: Int32) {
    util?.pointee.av_channel_layout_default(a, b)
}

func av_channel_layout_describe(
    _ a: UnsafePointer<AVChannelLayout>?, _ b: UnsafeMutablePointer<CChar>?, _ c: Int
) -> Int32 {
    util?.pointee.av_channel_layout_describe(a, b, c) ?? CodecError.noLibrary
}

func av_channel_layout_uninit(_ a: UnsafeMutablePointer<AVChannelLayout>?) {
    util?.pointee.av_channel_layout_uninit(a)
}
