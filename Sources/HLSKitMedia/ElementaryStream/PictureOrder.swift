/// The position of a picture in display order, as its first slice declares it.
struct PictureOrder: Sendable, Hashable {
    var count: Int
    var bitCount: Int
    /// Whether the count restarts with this picture, so that all earlier pictures in the stream are shown before it.
    var restarts: Bool
}

/// Reads the order of pictures from slice headers.
///
/// Source: ISO/IEC 14496-10 §7.3.3 and §8.2.1.1; ISO/IEC 23008-2 §7.3.6.1 and §8.3.1.
struct PictureOrderReader: Sendable {
    private(set) var h264: H264SPS?
    private var hevc: HEVCSPS?
    /// Parameters that HEVC slice headers depend on, by picture parameter set.
    private var pictureSets: [Int: (hasOutputFlag: Bool, extraBitCount: Int)] = [:]

    mutating func takeH264Sequence(_ nalUnit: some Collection<UInt8>) { h264 = try? H264SPS(parsing: nalUnit) }

    mutating func takeHEVCSequence(_ nalUnit: some Collection<UInt8>) { hevc = try? HEVCSPS(parsing: nalUnit) }

    mutating func takeHEVCPictureSet(_ nalUnit: some Collection<UInt8>) {
        var reader = BitReader(NALUnits.rawPayload(of: nalUnit.dropFirst(2).prefix(16)))
        let id = reader.unsignedExpGolomb()
        _ = reader.unsignedExpGolomb()  // pps_seq_parameter_set_id
        reader.skip(1)
        let set = (hasOutputFlag: reader.flag(), extraBitCount: reader.bits(3))
        guard id < 64, !reader.isExhausted else { return }
        pictureSets[id] = set
    }

    /// Reads a slice header from `pic_parameter_set_id` on.
    ///
    /// - Returns: The field if the picture is one, and the order of a whole frame if declared.
    func h264Picture(_ reader: inout BitReader, isIDR: Bool) -> (field: VideoUnitScanner.Field?, order: PictureOrder?) {
        guard let set = h264 else { return (nil, nil) }
        _ = reader.unsignedExpGolomb()
        if set.hasSeparateColourPlanes { reader.skip(2) }
        let number = reader.bits(set.frameNumberBitCount)
        if !set.isFramesOnly, reader.flag() {
            let isBottom = reader.flag()
            return (reader.isExhausted ? nil : .init(isBottom: isBottom, frameNumber: number), nil)
        }
        guard let bitCount = set.orderCountBitCount else { return (nil, nil) }
        if isIDR { _ = reader.unsignedExpGolomb() }
        let order = PictureOrder(count: reader.bits(bitCount), bitCount: bitCount, restarts: isIDR)
        return (nil, reader.isExhausted ? nil : order)
    }

    /// Reads the header of a picture's first slice segment, after the two bytes of its type.
    func hevcOrder(_ reader: inout BitReader, type: Int) -> PictureOrder? {
        guard let hevc, let bitCount = hevc.orderCountBitCount else { return nil }
        reader.skip(1)
        if (16...23).contains(type) { reader.skip(1) }
        guard let set = pictureSets[reader.unsignedExpGolomb()] else { return nil }
        // IDR pictures count from 0, as do pictures after a broken link.
        if type == 19 || type == 20 { return PictureOrder(count: 0, bitCount: bitCount, restarts: true) }
        reader.skip(set.extraBitCount)
        _ = reader.unsignedExpGolomb()
        if set.hasOutputFlag { reader.skip(1) }
        if hevc.hasSeparateColourPlanes { reader.skip(2) }
        let count = reader.bits(bitCount)
        guard !reader.isExhausted else { return nil }
        return PictureOrder(count: count, bitCount: bitCount, restarts: (16...18).contains(type))
    }
}
