import CLibAV
import HLSKitLoading
import HLSKitNetwork

/// FFmpeg's libavcodec, opened when the first codec is needed or ``prepare()`` is called.
///
/// It is not linked because it depends on a hundred libraries, which would delay each start by 30 ms before the first
/// request. They are loaded while that request is in progress.
///
/// The functions below have the names of the library's own and replace them in this module. Without the library, they
/// fail as if there were no memory or no such codec.
package enum CodecLibrary {
    typealias Context = UnsafeMutablePointer<AVCodecContext>
    typealias Codec = UnsafePointer<AVCodec>
    typealias Filter = UnsafeMutablePointer<AVBSFContext>
    typealias PacketPointer = UnsafeMutablePointer<AVPacket>
    typealias FramePointer = UnsafeMutablePointer<AVFrame>

    /// Loads the libraries for a player on a separate thread, unless they are loaded. Returns immediately.
    package static func prepare() { preparation }
    private static let preparation: Void = {
        // If no thread is available, the libraries are loaded on first use.
        _ = WorkerThread.start {
            // The linker opens one library at a time, so libraries for the first request precede those for its
            // response.
            CurlLibrary.openIfExpected()
            _ = (installed, UtilLibrary.installed, ResampleLibrary.installed, ScaleLibrary.installed)
        }
    }()

    private static let library = LibraryFunctions(CLibAV_codec_file(), find: CLibAV_codec_find)

    static var installed: UnsafePointer<CLibAV_codec>? { library.table }
    package static var failure: String? { library.failure }
    static func check() throws(CodecError) { try library.check() }
}

// MARK: The library's functions

func avcodec_version() -> UInt32 {
    CodecLibrary.installed?.pointee.avcodec_version() ?? 0
}

func avcodec_get_name(_ a: AVCodecID) -> UnsafePointer<CChar>? {
    CodecLibrary.installed?.pointee.avcodec_get_name(a)
}

func avcodec_find_decoder_by_name(_ a: UnsafePointer<CChar>?) -> CodecLibrary.Codec? {
    CodecLibrary.installed?.pointee.avcodec_find_decoder_by_name(a)
}

func avcodec_find_encoder_by_name(_ a: UnsafePointer<CChar>?) -> CodecLibrary.Codec? {
    CodecLibrary.installed?.pointee.avcodec_find_encoder_by_name(a)
}

func avcodec_alloc_context3(_ a: CodecLibrary.Codec?) -> CodecLibrary.Context? {
    CodecLibrary.installed?.pointee.avcodec_alloc_context3(a)
}

func avcodec_free_context(_ a: UnsafeMutablePointer<CodecLibrary.Context?>?) {
    CodecLibrary.installed?.pointee.avcodec_free_context(a)
}

func avcodec_open2(
    _ a: CodecLibrary.Context?, _ b: CodecLibrary.Codec?, _ c: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    CodecLibrary.installed?.pointee.avcodec_open2(a, b, c) ?? CodecError.noLibrary
}

func avcodec_flush_buffers(_ a: CodecLibrary.Context?) {
    CodecLibrary.installed?.pointee.avcodec_flush_buffers(a)
}

func avcodec_send_packet(_ a: CodecLibrary.Context?, _ b: UnsafePointer<AVPacket>?) -> Int32 {
    CodecLibrary.installed?.pointee.avcodec_send_packet(a, b) ?? CodecError.noLibrary
}

func avcodec_receive_frame(_ a: CodecLibrary.Context?, _ b: CodecLibrary.FramePointer?) -> Int32 {
    CodecLibrary.installed?.pointee.avcodec_receive_frame(a, b) ?? CodecError.noLibrary
}

func avcodec_send_frame(_ a: CodecLibrary.Context?, _ b: UnsafePointer<AVFrame>?) -> Int32 {
    CodecLibrary.installed?.pointee.avcodec_send_frame(a, b) ?? CodecError.noLibrary
}

func avcodec_receive_packet(_ a: CodecLibrary.Context?, _ b: CodecLibrary.PacketPointer?) -> Int32 {
    CodecLibrary.installed?.pointee.avcodec_receive_packet(a, b) ?? CodecError.noLibrary
}

func av_packet_alloc() -> CodecLibrary.PacketPointer? {
    CodecLibrary.installed?.pointee.av_packet_alloc()
}

func av_packet_free(_ a: UnsafeMutablePointer<CodecLibrary.PacketPointer?>?) {
    CodecLibrary.installed?.pointee.av_packet_free(a)
}

func av_packet_unref(_ a: CodecLibrary.PacketPointer?) {
    CodecLibrary.installed?.pointee.av_packet_unref(a)
}

func av_packet_get_side_data(
    _ a: UnsafePointer<AVPacket>?, _ b: AVPacketSideDataType, _ c: UnsafeMutablePointer<Int>?
) -> UnsafeMutablePointer<UInt8>? {
    CodecLibrary.installed?.pointee.av_packet_get_side_data(a, b, c)
}

func av_bsf_get_by_name(_ a: UnsafePointer<CChar>?) -> UnsafePointer<AVBitStreamFilter>? {
    CodecLibrary.installed?.pointee.av_bsf_get_by_name(a)
}

func av_bsf_alloc(_ a: UnsafePointer<AVBitStreamFilter>?, _ b: UnsafeMutablePointer<CodecLibrary.Filter?>?) -> Int32 {
    CodecLibrary.installed?.pointee.av_bsf_alloc(a, b) ?? CodecError.noLibrary
}

func av_bsf_init(_ a: CodecLibrary.Filter?) -> Int32 {
    CodecLibrary.installed?.pointee.av_bsf_init(a) ?? CodecError.noLibrary
}

func av_bsf_free(_ a: UnsafeMutablePointer<CodecLibrary.Filter?>?) {
    CodecLibrary.installed?.pointee.av_bsf_free(a)
}

func av_bsf_send_packet(_ a: CodecLibrary.Filter?, _ b: CodecLibrary.PacketPointer?) -> Int32 {
    CodecLibrary.installed?.pointee.av_bsf_send_packet(a, b) ?? CodecError.noLibrary
}

func av_bsf_receive_packet(_ a: CodecLibrary.Filter?, _ b: CodecLibrary.PacketPointer?) -> Int32 {
    CodecLibrary.installed?.pointee.av_bsf_receive_packet(a, b) ?? CodecError.noLibrary
}
