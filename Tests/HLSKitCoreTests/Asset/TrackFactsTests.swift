import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime
import Testing

@testable import HLSKitAsset

@Suite("Characteristics of tracks")
struct TrackFactsTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        /// The H.273 codes of primaries and transfer characteristics, or `nil` if the media has none.
        var color: (primaries: Int, transfer: Int)?
        var declared: VideoRange?
        var isWide = false
        var isHDR = false
    }

    static let cases = [
        Case(testDescription: "nothing is told"), Case(testDescription: "BT.709", color: (1, 1)),
        Case(testDescription: "BT.2020, SDR", color: (9, 14), isWide: true),
        Case(testDescription: "DCI-P3", color: (11, 1), isWide: true),
        Case(testDescription: "Display P3", color: (12, 13), isWide: true),
        Case(testDescription: "PQ", color: (9, 16), isWide: true, isHDR: true),
        Case(testDescription: "HLG", color: (9, 18), isWide: true, isHDR: true),
        Case(testDescription: "PQ in BT.709's colours", color: (1, 16), isHDR: true),
        Case(testDescription: "the variant says PQ", declared: .pq, isHDR: true),
        Case(testDescription: "the variant says HLG, the media nothing", color: (2, 2), declared: .hlg, isHDR: true),
        Case(testDescription: "the variant says PQ, the media BT.709", color: (1, 1), declared: .pq),
    ]

    @Test("J08: wide gamut and HDR follow the media's declaration, otherwise the variant's", arguments: cases)
    func color(_ test: Case) {
        let color = test.color.map {
            ColorInformation(colorPrimaries: $0.primaries, transferCharacteristics: $0.transfer, matrixCoefficients: 9)
        }
        let track = MediaTrack(id: 1, mediaType: .video, codec: .hevc, timescale: 1000, colorInformation: color)
        var facts = TrackFacts(track, extent: nil, origin: 0, duration: .zero)
        facts.declaredVideoRange = test.declared
        #expect(facts.characteristics.contains(.usesWideGamutColorSpace) == test.isWide)
        #expect(facts.characteristics.contains(.containsHDRVideo) == test.isHDR)
    }

    @Test("J08: audio tracks have no colour characteristics")
    func audio() {
        let track = MediaTrack(
            id: 1, mediaType: .audio, codec: .aac, timescale: 1000,
            colorInformation: ColorInformation(colorPrimaries: 9, transferCharacteristics: 16, matrixCoefficients: 9))
        let facts = TrackFacts(track, extent: nil, origin: 0, duration: .zero)
        #expect(facts.characteristics.isDisjoint(with: [.usesWideGamutColorSpace, .containsHDRVideo]))
    }
}
