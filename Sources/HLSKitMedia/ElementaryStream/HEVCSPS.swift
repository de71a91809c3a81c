/// The fields of an HEVC sequence parameter set that a player needs. ``id`` is 0 to 15, and bit depths are 8 to 16.
///
/// Source: ISO/IEC 23008-2 §7.3.2.2 and Annex E.
package struct HEVCSPS: Sendable, Hashable {
    package var profileIDC: Int
    package var isHighTier: Bool
    /// `general_level_idc`: thirty times the level.
    package var levelIDC: Int
    package var id: Int
    /// 0 monochrome, 1 4:2:0, 2 4:2:2, 3 4:4:4.
    package var chromaFormatIDC: Int
    package var lumaBitDepth: Int
    package var chromaBitDepth: Int
    /// Size in luma samples after cropping.
    package var width: Int
    package var height: Int
    /// The bits of `slice_pic_order_cnt_lsb` in slice headers (4 to 16), or nil if the number is out of range.
    package var orderCountBitCount: Int?
    package var hasSeparateColourPlanes: Bool
    package var usability: VideoUsabilityInfo

    /// Reads a NAL unit of type 33, from its two header bytes on and including emulation prevention.
    ///
    /// - Throws: `malformed` if the fields contradict each other or end early.
    package init(parsing nalUnit: some Collection<UInt8>) throws(MediaError) {
        var reader = BitReader(NALUnits.rawPayload(of: nalUnit.dropFirst(2)))
        reader.skip(4)
        let subLayerCount = reader.bits(3)  // less one
        reader.skip(1)
        reader.skip(2)
        isHighTier = reader.flag()
        profileIDC = reader.bits(5)
        reader.skip(32 + 48)
        levelIDC = reader.bits(8)
        var bitsOfSubLayers = 0
        if subLayerCount > 0 {
            for layer in 0..<8 {
                let (hasProfile, hasLevel) = (reader.flag(), reader.flag())
                if layer < subLayerCount { bitsOfSubLayers += (hasProfile ? 88 : 0) + (hasLevel ? 8 : 0) }
            }
        }
        reader.skip(bitsOfSubLayers)
        id = reader.unsignedExpGolomb()
        chromaFormatIDC = reader.unsignedExpGolomb()
        let hasSeparatePlanes = chromaFormatIDC == 3 ? reader.flag() : false
        hasSeparateColourPlanes = hasSeparatePlanes
        let (codedWidth, codedHeight) = (reader.unsignedExpGolomb(), reader.unsignedExpGolomb())
        var crop = (left: 0, right: 0, top: 0, bottom: 0)
        if reader.flag() {
            crop.left = reader.unsignedExpGolomb()
            crop.right = reader.unsignedExpGolomb()
            crop.top = reader.unsignedExpGolomb()
            crop.bottom = reader.unsignedExpGolomb()
        }
        let unitX = !hasSeparatePlanes && (chromaFormatIDC == 1 || chromaFormatIDC == 2) ? 2 : 1
        let unitY = !hasSeparatePlanes && chromaFormatIDC == 1 ? 2 : 1
        width = codedWidth - (crop.left + crop.right) * unitX
        height = codedHeight - (crop.top + crop.bottom) * unitY
        lumaBitDepth = 8 + reader.unsignedExpGolomb()
        chromaBitDepth = 8 + reader.unsignedExpGolomb()
        guard !reader.isExhausted, id < 16, chromaFormatIDC < 4, lumaBitDepth <= 16, chromaBitDepth <= 16,
            (1...65_536).contains(width), (1...65_536).contains(height)
        else {
            throw MediaError(code: .malformed, text: "HEVC sequence parameter set: a field is out of range")
        }
        usability = VideoUsabilityInfo()
        // The remaining fields only matter for the VUI after them. Even if they are invalid, the stream has its size.
        let orderCountBits = reader.unsignedExpGolomb() + 4
        guard orderCountBits <= 16, !reader.isExhausted else { return }
        orderCountBitCount = orderCountBits
        Self.parseUsability(
            &reader, subLayerCount: subLayerCount, orderCountBits: orderCountBits, into: &usability)
    }

    private static func parseUsability(
        _ reader: inout BitReader, subLayerCount: Int, orderCountBits: Int, into usability: inout VideoUsabilityInfo
    ) {
        for _ in 0..<(reader.flag() ? subLayerCount + 1 : 1) {
            for _ in 0..<3 { _ = reader.unsignedExpGolomb() }
        }
        for _ in 0..<6 { _ = reader.unsignedExpGolomb() }  // block sizes and transform depths
        if reader.flag() && reader.flag() { skipScalingLists(&reader) }
        reader.skip(2)
        if reader.flag() {
            reader.skip(8)
            _ = reader.unsignedExpGolomb()
            _ = reader.unsignedExpGolomb()
            reader.skip(1)
        }
        guard skipReferencePictureSets(&reader) else { return }
        if reader.flag() {
            for _ in 0..<min(reader.unsignedExpGolomb(), 32) { reader.skip(orderCountBits + 1) }
        }
        reader.skip(2)
        guard reader.flag(), !reader.isExhausted else { return }
        usability = VideoUsabilityInfo(parsingCommonFieldsFrom: &reader)
        reader.skip(3)
        if reader.flag() {  // default display window
            for _ in 0..<4 { _ = reader.unsignedExpGolomb() }
        }
        if reader.flag() { usability.frameDuration = VideoUsabilityInfo.frameDuration(from: &reader, ticks: 1) }
    }

    private static func skipScalingLists(_ reader: inout BitReader) {
        for size in 0..<4 {
            for _ in 0..<(size == 3 ? 2 : 6) {
                guard reader.flag() else {
                    _ = reader.unsignedExpGolomb()
                    continue
                }
                if size > 1 { _ = reader.signedExpGolomb() }
                for _ in 0..<min(64, 1 << (4 + size * 2)) { _ = reader.signedExpGolomb() }
            }
        }
    }

    /// §7.3.7. Returns false if a number is out of range.
    private static func skipReferencePictureSets(_ reader: inout BitReader) -> Bool {
        let count = reader.unsignedExpGolomb()
        guard count <= 64 else { return false }
        var frames = 0
        for index in 0..<count {
            if index > 0 && reader.flag() {
                reader.skip(1)
                _ = reader.unsignedExpGolomb()
                var kept = 0
                for _ in 0...frames {
                    let isUsed = reader.flag()
                    if isUsed || reader.flag() { kept += 1 }
                }
                frames = kept
            } else {
                let (negative, positive) = (reader.unsignedExpGolomb(), reader.unsignedExpGolomb())
                guard negative <= 16 && positive <= 16 else { return false }
                frames = negative + positive
                for _ in 0..<frames {
                    _ = reader.unsignedExpGolomb()
                    reader.skip(1)
                }
            }
            guard !reader.isExhausted, frames <= 32 else { return false }
        }
        return true
    }
}
