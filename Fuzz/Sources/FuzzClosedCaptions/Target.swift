import HLSCaptions
import HLSMedia
import HLSTime

/// The first byte chooses the form: pairs as they are, a sample of `c608` or `c708`, a picture of H.264.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    var bytes = Array(UnsafeBufferPointer(start: start, count: count))[...]
    guard let form = bytes.popFirst() else { return 0 }
    var decoder = ClosedCaptionDecoder()
    var captions: [ClosedCaption] = []
    var time: Int64 = 0
    func decode(_ data: ClosedCaptionData) {
        time += 3003
        decoder.decode(data, at: MediaTime(value: time, timescale: 90_000), to: &captions)
    }
    switch form & 3 {
    case 0:
        while let kind = bytes.popFirst(), let first = bytes.popFirst(), let second = bytes.popFirst() {
            guard let kind = ClosedCaptionData.Pair.Kind(rawValue: kind & 3) else { continue }
            decode(ClosedCaptionData(pairs: [.init(kind: kind, first: first, second: second)]))
        }
    case 1: decode(ClosedCaptionData(line21Sample: bytes))
    case 2: decode(ClosedCaptionData(distributionSample: bytes))
    default:
        let track = MediaTrack(id: 1, mediaType: .video, codec: .h264, timescale: 90_000)
        decode(
            ClosedCaptionData(
                sample: MediaSample(trackID: 1, pts: 0, dts: 0, isSync: true, data: SampleData(bytes)), track: track))
    }
    decoder.finish(at: MediaTime(value: time + 3003, timescale: 90_000), to: &captions)
    for caption in captions { precondition(caption.caption.timeRange.isValid && !caption.caption.timeRange.isEmpty) }
    return 0
}
