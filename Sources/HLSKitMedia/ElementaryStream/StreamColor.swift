extension MediaTrack {
    /// The colour of the video, from the usability information of the stream's parameter set or else from the container.
    /// It is nil if neither declares it.
    ///
    /// Decoders report it with each picture. This property is available before decoding.
    package var declaredColor: ColorInformation? {
        guard let own = streamUsability?.colorInformation else { return colorInformation }
        guard let container = colorInformation else { return own }
        func first(_ one: Int, _ other: Int) -> Int { one == 2 ? other : one }
        return ColorInformation(
            colorPrimaries: first(own.colorPrimaries, container.colorPrimaries),
            transferCharacteristics: first(own.transferCharacteristics, container.transferCharacteristics),
            matrixCoefficients: first(own.matrixCoefficients, container.matrixCoefficients),
            isFullRange: own.isFullRange == true ? true : container.isFullRange ?? own.isFullRange)
    }

    /// The shape of a pixel, from the container or else from the stream itself. It is nil if neither declares it.
    package var declaredPixelAspectRatio: PixelAspectRatio? {
        if let pixelAspectRatio { return pixelAspectRatio }
        guard let ratio = streamUsability?.sampleAspectRatio, ratio.width != ratio.height else { return nil }
        return PixelAspectRatio(horizontalSpacing: ratio.width, verticalSpacing: ratio.height)
    }

    /// The fields of a frame: 2 if the video may be interlaced, 1 if not, or nil if the stream does not declare it.
    package var declaredFieldCount: Int? {
        if let fieldCount { return fieldCount }
        guard codec == .h264, configuration.first == 1, let set = Self.parameterSet(avcC: configuration),
            let set = try? H264SPS(parsing: set)
        else { return nil }
        return set.isFramesOnly ? 1 : 2
    }

    private var streamUsability: VideoUsabilityInfo? {
        guard configuration.first == 1 else { return nil }
        do throws(MediaError) {
            switch codec {
            case .h264:
                guard let set = Self.parameterSet(avcC: configuration) else { return nil }
                return try H264SPS(parsing: set).usability
            case .hevc:
                guard let set = Self.parameterSet(hvcC: configuration) else { return nil }
                return try HEVCSPS(parsing: set).usability
            default: return nil
            }
        } catch {
            return nil
        }
    }

    /// Source: ISO/IEC 14496-15 §5.3.3.1.
    private static func parameterSet(avcC bytes: [UInt8]) -> ArraySlice<UInt8>? {
        var reader = BoxReader(bytes[...], offset: 0)
        do throws(MediaError) {
            try reader.skip(5)
            guard try reader.readUInt8() & 0x1f > 0 else { return nil }
            return try reader.readBytes(Int(try reader.readUInt16()))
        } catch {
            return nil
        }
    }

    /// Source: ISO/IEC 14496-15 §8.3.3.1.
    private static func parameterSet(hvcC bytes: [UInt8]) -> ArraySlice<UInt8>? {
        var reader = BoxReader(bytes[...], offset: 0)
        do throws(MediaError) {
            try reader.skip(22)
            for _ in 0..<(try reader.readUInt8()) {
                let type = try reader.readUInt8() & 0x3f
                for _ in 0..<(try reader.readUInt16()) {
                    let unit = try reader.readBytes(Int(try reader.readUInt16()))
                    if type == 33 { return unit }
                }
            }
        } catch {
            return nil
        }
        return nil
    }
}
