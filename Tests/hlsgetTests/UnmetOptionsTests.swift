import HLSGetKit
import HLSKitCore
import Testing

@testable import hlsget

@Suite("Preferences that a stream cannot meet")
struct PlayWishesTests {
    private static let variant = AssetVariant(
        index: 0, peakBitRate: 599_000, presentationSize: PixelSize(width: 426, height: 240))

    private func reported(
        _ kind: PlayerEvent.Kind, canPlayFastForward: Bool = false, _ change: (inout PlayOptions) -> Void
    ) -> [HLSError] {
        var options = PlayOptions(url: "https://a/x")
        change(&options)
        var preferences = UnmetOptions(options)
        let event = PlayerEvent(hostTime: .zero, kind: kind)
        return (0..<2).compactMap { _ in preferences.unfulfilled(by: event, canPlayFastForward: canPlayFastForward) }
    }

    @Test("a rate above 2 without I-frames is reported once")
    func rate() {
        let ready = PlayerEvent.Kind.itemStatusChanged(.readyToPlay)
        let errors = reported(ready) { $0.rate = 8 }
        #expect(errors.map(\.cause) == ["played at 2x instead of 8x"])
        #expect(errors.map(\.code) == [.noEligibleVariant])
        #expect(reported(ready, canPlayFastForward: true) { $0.rate = 8 }.isEmpty)
        #expect(reported(ready) { $0.rate = 2 }.isEmpty)
        #expect(reported(ready) { $0.rate = -2 }.isEmpty, "that fails")
    }

    @Test("a --peak-bitrate below all variants is reported once")
    func bitRate() {
        let choice = PlayerEvent.Kind.variantSwitched(from: nil, to: Self.variant, explanation: "")
        let errors = reported(choice) { $0.peakBitRate = 10_000 }
        #expect(errors.map(\.cause) == ["no variant is within --peak-bitrate 10k"])
        #expect(errors.first?.detail == "the lowest has 599k")
        #expect(reported(choice) { $0.peakBitRate = 599_000 }.isEmpty)
        let expensive = reported(choice) {
            ($0.peakBitRate, $0.isExpensive, $0.expensivePeakBitRate) = (20_000, true, 10_000)
        }
        #expect(expensive.map(\.cause) == ["no variant is within --expensive-peak-bitrate 10k"])
        #expect(reported(choice) { $0.expensivePeakBitRate = 10_000 }.isEmpty, "nobody says that it costs money")
        #expect(reported(choice) { _ in }.isEmpty)
    }

    @Test("--on-gap fail ends at any missing media")
    func gaps() {
        let skipped = SkippedSegments(
            first: 7, last: 8, mediaDuration: .seconds(8), url: "https://a/7.ts", cause: "HTTP 404")
        let kinds: [PlayerEvent.Kind] = [
            .segmentSkipped(skipped), .segmentsMissed(skipped),
            .missingMediaSkipped(MediaTimeRange(start: .seconds(61), end: .seconds(62.5))),
        ]
        var options = PlayOptions(url: "https://a/x")
        for kind in kinds {
            #expect(UnmetOptions(options).gap(of: PlayerEvent(hostTime: .zero, kind: kind)) == nil)
        }
        options.gapAction = .fail
        let errors = kinds.map { UnmetOptions(options).gap(of: PlayerEvent(hostTime: .zero, kind: $0)) }
        #expect(errors.allSatisfy { $0?.code == .incomplete })
        #expect(errors.first??.cause == "segment 7 is missing" && errors.first??.detail == "HTTP 404")
        #expect(UnmetOptions(options).gap(of: PlayerEvent(hostTime: .zero, kind: .didPlayToEnd)) == nil)
    }
}
