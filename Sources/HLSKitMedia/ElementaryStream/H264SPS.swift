/// The fields of an H.264 sequence parameter set that a player needs. ``id`` is 0 to 31, and bit depths are 8 to 14.
///
/// Source: ISO/IEC 14496-10 §7.3.2.1.1 and Annex E.
package struct H264SPS: Sendable, Hashable {
    package var profileIDC: UInt8
    /// The six constraint flags and two reserved bits, as in `avcC`.
    package var constraintFlags: UInt8
    /// `level_idc`: ten times the level.
    package var levelIDC: UInt8
    package var id: Int
    /// 0 monochrome, 1 4:2:0, 2 4:2:2, 3 4:4:4.
    package var chromaFormatIDC: Int
    package var lumaBitDepth: Int
    package var chromaBitDepth: Int
    /// Size in luma samples after cropping.
    package var width: Int
    package var height: Int
    package var isFramesOnly: Bool
    /// The bits of `frame_num` in slice headers: 4 to 16.
    package var frameNumberBitCount: Int
    /// The bits of `pic_order_cnt_lsb` in slice headers (4 to 16), or nil if slices do not declare their order.
    package var orderCountBitCount: Int?
    package var hasSeparateColourPlanes: Bool
    package var usability: VideoUsabilityInfo

    /// Reads a NAL unit of type 7, from its header byte on and including emulation prevention.
    ///
    /// - Throws: `malformed` if the fields contradict each other or end early.
    package init(parsing nalUnit: some Collection<UInt8>) throws(MediaError) {
        var reader = BitReader(NALUnits.rawPayload(of: nalUnit.dropFirst()))
        profileIDC = UInt8(reader.bits(8))
        constraintFlags = UInt8(reader.bits(8))
        levelIDC = UInt8(reader.bits(8))
        id = reader.unsignedExpGolomb()
        chromaFormatIDC = 1
        lumaBitDepth = 8
        chromaBitDepth = 8
        hasSeparateColourPlanes = false
        if [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135].contains(profileIDC) {
            chromaFormatIDC = reader.unsignedExpGolomb()
            if chromaFormatIDC == 3 { hasSeparateColourPlanes = reader.flag() }
            lumaBitDepth = 8 + reader.unsignedExpGolomb()
            chromaBitDepth = 8 + reader.unsignedExpGolomb()
            reader.skip(1)
            if reader.flag() { Self.skipScalingLists(&reader, count: chromaFormatIDC == 3 ? 12 : 8) }
        }
        frameNumberBitCount = 4 + reader.unsignedExpGolomb()
        switch reader.unsignedExpGolomb() {
        case 0: orderCountBitCount = 4 + reader.unsignedExpGolomb()
        case 1:
            reader.skip(1)
            _ = reader.signedExpGolomb()
            _ = reader.signedExpGolomb()
            for _ in 0..<min(reader.unsignedExpGolomb(), 255) { _ = reader.signedExpGolomb() }
        default: break
        }
        _ = reader.unsignedExpGolomb()  // max_num_ref_frames
        reader.skip(1)
        let widthInBlocks = reader.unsignedExpGolomb() + 1
        let heightInUnits = reader.unsignedExpGolomb() + 1
        isFramesOnly = reader.flag()
        if !isFramesOnly { reader.skip(1) }
        reader.skip(1)
        // The widest picture of level 6.2 has 1 055 macroblocks. The limit here only prevents large numbers.
        guard !reader.isExhausted, id < 32, chromaFormatIDC < 4, lumaBitDepth <= 14, chromaBitDepth <= 14,
            frameNumberBitCount <= 16, orderCountBitCount ?? 4 <= 16, widthInBlocks <= 4096, heightInUnits <= 4096
        else {
            throw MediaError(code: .malformed, text: "H.264 sequence parameter set: a field is out of range")
        }
        let fieldFactor = isFramesOnly ? 1 : 2
        var crop = (left: 0, right: 0, top: 0, bottom: 0)
        if reader.flag() {
            crop.left = reader.unsignedExpGolomb()
            crop.right = reader.unsignedExpGolomb()
            crop.top = reader.unsignedExpGolomb()
            crop.bottom = reader.unsignedExpGolomb()
        }
        let isSubsampled = !hasSeparateColourPlanes && chromaFormatIDC != 0
        let unitX = isSubsampled && chromaFormatIDC != 3 ? 2 : 1
        let unitY = (isSubsampled && chromaFormatIDC == 1 ? 2 : 1) * fieldFactor
        width = widthInBlocks * 16 - (crop.left + crop.right) * unitX
        height = heightInUnits * 16 * fieldFactor - (crop.top + crop.bottom) * unitY
        guard width > 0 && height > 0 else {
            throw MediaError(code: .malformed, text: "H.264 sequence parameter set: cropped to nothing")
        }
        usability = VideoUsabilityInfo()
        if reader.flag() {
            usability = VideoUsabilityInfo(parsingCommonFieldsFrom: &reader)
            // A frame is two ticks (§E.2.1, table E-6).
            if reader.flag() { usability.frameDuration = VideoUsabilityInfo.frameDuration(from: &reader, ticks: 2) }
        }
    }

    private static func skipScalingLists(_ reader: inout BitReader, count: Int) {
        for list in 0..<count where reader.flag() {
            var (last, next) = (8, 8)
            for _ in 0..<(list < 6 ? 16 : 64) {
                if next != 0 { next = (last + reader.signedExpGolomb()) & 255 }
                if next != 0 { last = next }
            }
        }
    }
}
