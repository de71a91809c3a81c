import CLibAV
import HLSKitMedia

/// One `AVPacket` that borrows the memory of a sample instead of copying it.
struct Packet: ~Copyable {
    let raw: UnsafeMutablePointer<AVPacket>

    init() throws(CodecError) {
        try CodecLibrary.check()
        guard let packet = av_packet_alloc() else {
            throw CodecError(call: "av_packet_alloc", code: CodecError.outOfMemory)
        }
        raw = packet
    }

    deinit {
        var packet: UnsafeMutablePointer<AVPacket>? = raw
        av_packet_free(&packet)
    }

    /// Points the packet to the bytes of `sample`, whose memory is retained for as long as libav refers to it.
    func wrap(_ sample: MediaSample) throws(CodecError) {
        av_packet_unref(raw)
        // libav counts packet bytes in an `int` and adds its padding to them.
        guard let size = Int32(exactly: sample.data.count), size < Int32.max - Int32(SampleData.paddingByteCount) else {
            throw CodecError(call: "av_buffer_create", code: CodecError.invalidArgument, text: "sample too large")
        }
        let owner = Unmanaged.passRetained(sample.data)
        let bytes = sample.data.base.assumingMemoryBound(to: UInt8.self)
        let buffer = av_buffer_create(
            bytes, sample.data.count + SampleData.paddingByteCount,
            { opaque, _ in
                if let opaque { Unmanaged<SampleData>.fromOpaque(opaque).release() }
            },
            owner.toOpaque(), AV_BUFFER_FLAG_READONLY)
        guard let buffer else {
            owner.release()
            throw CodecError(call: "av_buffer_create", code: CodecError.outOfMemory)
        }
        raw.pointee.buf = buffer
        raw.pointee.data = bytes
        raw.pointee.size = size
        raw.pointee.pts = sample.pts
        raw.pointee.dts = sample.dts
        raw.pointee.duration = sample.duration
        raw.pointee.flags =
            (sample.isSync ? AV_PKT_FLAG_KEY : 0) | (sample.isDamaged ? AV_PKT_FLAG_CORRUPT : 0)
    }

    func unwrap() { av_packet_unref(raw) }
}
