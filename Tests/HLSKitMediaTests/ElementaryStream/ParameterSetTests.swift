import HLSKitMedia
import HLSKitTime
import Testing

private func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

/// Sequence parameter sets that x264 and x265 wrote. The expected values are the settings of the encoder.
@Suite struct ParameterSetTests {
    @Test("H.264: cropping, sample aspect ratio, colour, full range and frame rate are read")
    func h264() throws {
        let set = try H264SPS(parsing: bytes("6764002aacd940780227a9b0e6e020202800001f48000ea60078c18cb0"))
        #expect(set.width == 1918 && set.height == 1078)
        #expect(set.profileIDC == 100 && set.levelIDC == 42 && set.chromaFormatIDC == 1 && set.lumaBitDepth == 8)
        #expect(
            set.usability
                == VideoUsabilityInfo(
                    sampleAspectRatio: .init(width: 4, height: 3), colourPrimaries: 1, transferCharacteristics: 1,
                    matrixCoefficients: 1, isFullRange: true,
                    frameDuration: .init(value: 2002, timescale: 120_000)))
    }

    @Test("H.264: 4:2:2 in ten bits, interlaced, with scaling lists is read")
    func h264Interlaced() throws {
        let set = try H264SPS(parsing: bytes("677a001eb6cd940b424d820800000300080000030190f8a14cb0"))
        #expect(set.width == 720 && set.height == 576 && !set.isFramesOnly)
        #expect(set.chromaFormatIDC == 2 && set.lumaBitDepth == 10 && set.chromaBitDepth == 10)
        #expect(set.usability.sampleAspectRatio == .init(width: 16, height: 11))
        #expect(set.usability.frameDuration == .init(value: 2, timescale: 50))
        #expect(set.usability.colourPrimaries == 2)
    }

    @Test("HEVC: ten bits, wide gamut and PQ are read")
    func hevc() throws {
        let set = try HEVCSPS(
            parsing: bytes(
                "420101022000000300900000030000030078a003c08010e4d96566924caf016a12201208000003000800000300c040"))
        #expect(set.width == 1920 && set.height == 1080 && set.profileIDC == 2 && set.lumaBitDepth == 10)
        #expect(set.levelIDC == 120 && !set.isHighTier)
        #expect(
            set.usability
                == VideoUsabilityInfo(
                    colourPrimaries: 9, transferCharacteristics: 16, matrixCoefficients: 9,
                    frameDuration: .init(value: 1, timescale: 24)))
    }

    @Test("HEVC: sub-layers, scaling lists and cropping are read")
    func hevcSubLayers() throws {
        let set = try HEVCSPS(
            parsing: bytes(
                "42010201600000030090000003000003005a0000a005020171f2659598acd249caf0168080000003008000001904"))
        #expect(set.width == 640 && set.height == 362 && set.profileIDC == 1 && set.lumaBitDepth == 8)
        #expect(set.usability.frameDuration == .init(value: 1, timescale: 50))
    }

    @Test("a truncated or random parameter set gives an error or a size, never a trap")
    func damaged() {
        let sets = [
            "6764002aacd940780227a9b0e6e020202800001f48000ea60078c18cb0",
            "420101022000000300900000030000030078a003c08010e4d96566924caf016a12201208000003000800000300c040",
        ].map(bytes)
        var generator = SplitMix64(seed: 3)
        for set in sets {
            #expect(throws: MediaError.self) { try H264SPS(parsing: []) }
            #expect(throws: MediaError.self) { try HEVCSPS(parsing: set.prefix(6)) }
            #expect(throws: MediaError.self) { try H264SPS(parsing: set.prefix(5)) }
            for _ in 0..<3000 {
                var damaged = set
                for _ in 0..<4 {
                    damaged[Int.random(in: 0..<damaged.count, using: &generator)] = .random(
                        in: 0...255, using: &generator)
                }
                if let found = try? H264SPS(parsing: damaged) { #expect(found.width > 0 && found.height > 0) }
                if let found = try? HEVCSPS(parsing: damaged) { #expect(found.width > 0 && found.height > 0) }
            }
        }
    }
}
