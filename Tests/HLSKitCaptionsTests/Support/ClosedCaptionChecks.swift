import HLSKitTime

@testable import HLSKitCaptions
@testable import HLSKitMedia

/// Invariants of closed captions that must hold for any bytes. Tests use them and, through a link, a fuzzer in `Fuzz/`.
enum ClosedCaptionChecks {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// Checks the bytes. The first byte selects the form: pairs, a sample of `c608` or `c708`, or a frame of H.264.
    static func check(_ bytes: [UInt8]) throws(Failure) {
        var rest = bytes[...]
        guard let form = rest.popFirst() else { return }
        var decoder = ClosedCaptionDecoder()
        var captions: [ClosedCaption] = []
        var time: Int64 = 0
        func decode(_ data: ClosedCaptionData) {
            time += 3003
            decoder.decode(data, at: MediaTime(value: time, timescale: 90_000), to: &captions)
        }
        switch form & 3 {
        case 0:
            while let kind = rest.popFirst(), let first = rest.popFirst(), let second = rest.popFirst() {
                guard let kind = ClosedCaptionData.Pair.Kind(rawValue: kind & 3) else { continue }
                decode(ClosedCaptionData(pairs: [.init(kind: kind, first: first, second: second)]))
            }
        case 1: decode(ClosedCaptionData(line21Sample: rest))
        case 2: decode(ClosedCaptionData(distributionSample: rest))
        default:
            let track = MediaTrack(id: 1, mediaType: .video, codec: .h264, timescale: 90_000)
            let sample = MediaSample(trackID: 1, pts: 0, dts: 0, isSync: true, data: SampleData(Array(rest)))
            decode(ClosedCaptionData(sample: sample, track: track))
        }
        decoder.finish(at: MediaTime(value: time + 3003, timescale: 90_000), to: &captions)
        for caption in captions.map(\.caption) {
            guard caption.timeRange.isValid, !caption.timeRange.isEmpty, !caption.text.isEmpty else {
                throw Failure(description: "a caption without time or text: \(caption.timeRange) \(caption.text)")
            }
        }
    }
}
