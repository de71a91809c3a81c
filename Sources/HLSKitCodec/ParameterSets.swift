import CLibAV
package import HLSKitMedia

/// Finds the parameter sets in samples of streams that carry them in band (H.264 and HEVC in transport streams).
package enum ParameterSets {
    /// Returns the parameter sets of `sample` with start codes, or nil if they are incomplete.
    ///
    /// Muxers expect them in this form as a configuration.
    package static func extract(from sample: MediaSample, of track: MediaTrack) throws(CodecError) -> [UInt8]? {
        guard let filter = av_bsf_get_by_name("extract_extradata"),
            let identifier = CodecRegistry.identifier(of: track.codec)
        else { return nil }
        var context: UnsafeMutablePointer<AVBSFContext>?
        defer { av_bsf_free(&context) }
        var code = av_bsf_alloc(filter, &context)
        guard code >= 0, let context else { throw CodecError(call: "av_bsf_alloc", code: code) }
        context.pointee.par_in.pointee.codec_type = AVMEDIA_TYPE_VIDEO
        context.pointee.par_in.pointee.codec_id = identifier
        code = av_bsf_init(context)
        guard code >= 0 else { throw CodecError(call: "av_bsf_init", code: code) }
        let packet = try Packet()
        try packet.wrap(sample)
        code = av_bsf_send_packet(context, packet.raw)
        guard code >= 0 else { throw CodecError(call: "av_bsf_send_packet", code: code) }
        code = av_bsf_receive_packet(context, packet.raw)
        guard code >= 0 else {
            if code == CLibAV_error_again() || code == CLibAV_error_eof() { return nil }
            throw CodecError(call: "av_bsf_receive_packet", code: code)
        }
        var byteCount = 0
        guard let bytes = av_packet_get_side_data(packet.raw, AV_PKT_DATA_NEW_EXTRADATA, &byteCount) else { return nil }
        return Array(UnsafeBufferPointer(start: bytes, count: byteCount))
    }
}
