import CLibAV
import Glibc

/// FFmpeg's libavcodec, opened when the first codec is needed or ``prepare()`` is called.
///
/// It is not linked: a hundred libraries come with it and would take 30 ms of each start, before the first request. So they
/// are loaded while that is on its way. `docs/decisions/loading-ffmpeg.md` says more.
///
/// The functions below bear the names of the library's own and stand in for them in this module. Without the library they
/// fail as the library's do when there is no memory or no such codec.
struct CodecLibrary: Sendable {
    typealias Context = UnsafeMutablePointer<AVCodecContext>
    typealias Codec = UnsafePointer<AVCodec>
    typealias Filter = UnsafeMutablePointer<AVBSFContext>
    typealias PacketPointer = UnsafeMutablePointer<AVPacket>
    typealias FramePointer = UnsafeMutablePointer<AVFrame>

    let version: @convention(c) () -> UInt32
    let findDecoder: @convention(c) (UnsafePointer<CChar>?) -> Codec?
    let findEncoder: @convention(c) (UnsafePointer<CChar>?) -> Codec?
    let allocateContext: @convention(c) (Codec?) -> Context?
    let freeContext: @convention(c) (UnsafeMutablePointer<Context?>?) -> Void
    let open: @convention(c) (Context?, Codec?, UnsafeMutablePointer<OpaquePointer?>?) -> Int32
    let flush: @convention(c) (Context?) -> Void
    let sendPacket: @convention(c) (Context?, UnsafePointer<AVPacket>?) -> Int32
    let receiveFrame: @convention(c) (Context?, FramePointer?) -> Int32
    let sendFrame: @convention(c) (Context?, UnsafePointer<AVFrame>?) -> Int32
    let receivePacket: @convention(c) (Context?, PacketPointer?) -> Int32
    let allocatePacket: @convention(c) () -> PacketPointer?
    let freePacket: @convention(c) (UnsafeMutablePointer<PacketPointer?>?) -> Void
    let unreferencePacket: @convention(c) (PacketPointer?) -> Void
    let sideData:
        @convention(c) (UnsafePointer<AVPacket>?, AVPacketSideDataType, UnsafeMutablePointer<Int>?)
            -> UnsafeMutablePointer<UInt8>?
    let findFilter: @convention(c) (UnsafePointer<CChar>?) -> UnsafePointer<AVBitStreamFilter>?
    let allocateFilter: @convention(c) (UnsafePointer<AVBitStreamFilter>?, UnsafeMutablePointer<Filter?>?) -> Int32
    let beginFilter: @convention(c) (Filter?) -> Int32
    let freeFilter: @convention(c) (UnsafeMutablePointer<Filter?>?) -> Void
    let sendToFilter: @convention(c) (Filter?, PacketPointer?) -> Int32
    let receiveFromFilter: @convention(c) (Filter?, PacketPointer?) -> Int32

    /// Loads the library on a thread of its own, if nothing has done so yet. Returns at once.
    static func prepare() { preparation }
    private static let preparation: Void = {
        // Without a thread it is loaded when it is needed.
        _ = WorkerThread.start { _ = installed }
    }()

    private static let loading: Result<CodecLibrary, DynamicLibrary.Failure> = Result {
        () throws(DynamicLibrary.Failure) in try CodecLibrary(DynamicLibrary(name))
    }
    /// nil if the library is not installed, or cannot be loaded.
    static let installed = try? loading.get()
    /// Throws where it is not, and says why.
    static func check() throws(CodecError) { try DynamicLibrary.check(loading, name) }
    /// Of the version that this was compiled for.
    static let name = "libavcodec.so.\(LIBAVCODEC_VERSION_MAJOR)"

    private init(_ library: DynamicLibrary) throws(DynamicLibrary.Failure) {
        version = try library.symbol("avcodec_version")
        findDecoder = try library.symbol("avcodec_find_decoder_by_name")
        findEncoder = try library.symbol("avcodec_find_encoder_by_name")
        allocateContext = try library.symbol("avcodec_alloc_context3")
        freeContext = try library.symbol("avcodec_free_context")
        open = try library.symbol("avcodec_open2")
        flush = try library.symbol("avcodec_flush_buffers")
        sendPacket = try library.symbol("avcodec_send_packet")
        receiveFrame = try library.symbol("avcodec_receive_frame")
        sendFrame = try library.symbol("avcodec_send_frame")
        receivePacket = try library.symbol("avcodec_receive_packet")
        allocatePacket = try library.symbol("av_packet_alloc")
        freePacket = try library.symbol("av_packet_free")
        unreferencePacket = try library.symbol("av_packet_unref")
        sideData = try library.symbol("av_packet_get_side_data")
        findFilter = try library.symbol("av_bsf_get_by_name")
        allocateFilter = try library.symbol("av_bsf_alloc")
        beginFilter = try library.symbol("av_bsf_init")
        freeFilter = try library.symbol("av_bsf_free")
        sendToFilter = try library.symbol("av_bsf_send_packet")
        receiveFromFilter = try library.symbol("av_bsf_receive_packet")
    }
}

// MARK: The library's functions

func avcodec_version() -> UInt32 {
    CodecLibrary.installed?.version() ?? 0
}

func avcodec_find_decoder_by_name(_ a: UnsafePointer<CChar>?) -> CodecLibrary.Codec? {
    CodecLibrary.installed?.findDecoder(a)
}

func avcodec_find_encoder_by_name(_ a: UnsafePointer<CChar>?) -> CodecLibrary.Codec? {
    CodecLibrary.installed?.findEncoder(a)
}

func avcodec_alloc_context3(_ a: CodecLibrary.Codec?) -> CodecLibrary.Context? {
    CodecLibrary.installed?.allocateContext(a)
}

func avcodec_free_context(_ a: UnsafeMutablePointer<CodecLibrary.Context?>?) {
    CodecLibrary.installed?.freeContext(a)
}

func avcodec_open2(
    _ a: CodecLibrary.Context?, _ b: CodecLibrary.Codec?, _ c: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    CodecLibrary.installed?.open(a, b, c) ?? CodecError.noLibrary
}

func avcodec_flush_buffers(_ a: CodecLibrary.Context?) {
    CodecLibrary.installed?.flush(a)
}

func avcodec_send_packet(_ a: CodecLibrary.Context?, _ b: UnsafePointer<AVPacket>?) -> Int32 {
    CodecLibrary.installed?.sendPacket(a, b) ?? CodecError.noLibrary
}

func avcodec_receive_frame(_ a: CodecLibrary.Context?, _ b: CodecLibrary.FramePointer?) -> Int32 {
    CodecLibrary.installed?.receiveFrame(a, b) ?? CodecError.noLibrary
}

func avcodec_send_frame(_ a: CodecLibrary.Context?, _ b: UnsafePointer<AVFrame>?) -> Int32 {
    CodecLibrary.installed?.sendFrame(a, b) ?? CodecError.noLibrary
}

func avcodec_receive_packet(_ a: CodecLibrary.Context?, _ b: CodecLibrary.PacketPointer?) -> Int32 {
    CodecLibrary.installed?.receivePacket(a, b) ?? CodecError.noLibrary
}

func av_packet_alloc() -> CodecLibrary.PacketPointer? {
    CodecLibrary.installed?.allocatePacket()
}

func av_packet_free(_ a: UnsafeMutablePointer<CodecLibrary.PacketPointer?>?) {
    CodecLibrary.installed?.freePacket(a)
}

func av_packet_unref(_ a: CodecLibrary.PacketPointer?) {
    CodecLibrary.installed?.unreferencePacket(a)
}

func av_packet_get_side_data(
    _ a: UnsafePointer<AVPacket>?, _ b: AVPacketSideDataType, _ c: UnsafeMutablePointer<Int>?
) -> UnsafeMutablePointer<UInt8>? {
    CodecLibrary.installed?.sideData(a, b, c)
}

func av_bsf_get_by_name(_ a: UnsafePointer<CChar>?) -> UnsafePointer<AVBitStreamFilter>? {
    CodecLibrary.installed?.findFilter(a)
}

func av_bsf_alloc(_ a: UnsafePointer<AVBitStreamFilter>?, _ b: UnsafeMutablePointer<CodecLibrary.Filter?>?) -> Int32 {
    CodecLibrary.installed?.allocateFilter(a, b) ?? CodecError.noLibrary
}

func av_bsf_init(_ a: CodecLibrary.Filter?) -> Int32 {
    CodecLibrary.installed?.beginFilter(a) ?? CodecError.noLibrary
}

func av_bsf_free(_ a: UnsafeMutablePointer<CodecLibrary.Filter?>?) {
    CodecLibrary.installed?.freeFilter(a)
}

func av_bsf_send_packet(_ a: CodecLibrary.Filter?, _ b: CodecLibrary.PacketPointer?) -> Int32 {
    CodecLibrary.installed?.sendToFilter(a, b) ?? CodecError.noLibrary
}

func av_bsf_receive_packet(_ a: CodecLibrary.Filter?, _ b: CodecLibrary.PacketPointer?) -> Int32 {
    CodecLibrary.installed?.receiveFromFilter(a, b) ?? CodecError.noLibrary
}
