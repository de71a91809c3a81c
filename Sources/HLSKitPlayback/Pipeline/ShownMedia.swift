import HLSKitCodec
import HLSKitMedia

/// The part of a track's media that is shown: the edit list's range, or everything.
///
/// Source: ISO/IEC 14496-12 §8.6.6.
struct ShownMedia: Sendable, Hashable {
    private let range: Range<Int64>?

    /// - Parameter range: The presentation times in units of the track, or `nil` for all.
    init(_ range: Range<Int64>? = nil) { self.range = range }

    func shows(frameAt pts: Int64) -> Bool { range.map { $0.contains(pts) } ?? true }

    func part(ofAudioAt pts: Int64, frameCount: Int, sampleRate: Int, timescale: Int32) -> Range<Int> {
        guard let range, sampleRate > 0, timescale > 0 else { return 0..<frameCount }
        func frames(to time: Int64) -> Int {
            let (distance, overflow) = time.subtractingReportingOverflow(pts)
            guard !overflow else { return time < pts ? 0 : frameCount }
            let exact = (Int128(distance) * Int128(sampleRate) + Int128(timescale / 2)) / Int128(timescale)
            return Int(clamping: max(0, min(exact, Int128(frameCount))))
        }
        let (start, end) = (frames(to: range.lowerBound), frames(to: range.upperBound))
        return start..<max(start, end)
    }

    func cut(_ buffer: AudioBuffer) throws(CodecError) -> AudioBuffer? {
        let part = part(
            ofAudioAt: buffer.pts, frameCount: buffer.frameCount, sampleRate: buffer.sampleRate,
            timescale: buffer.timescale)
        if part.count == buffer.frameCount { return buffer }
        guard !part.isEmpty else { return nil }
        return try buffer.trimmed(leading: part.lowerBound, trailing: buffer.frameCount - part.upperBound)
    }

    /// Whether a sample belongs to a copy of the track. Shown frames depend on earlier ones.
    func copies(_ sample: MediaSample, of type: MediaKind) -> Bool {
        guard let range else { return true }
        let end = sample.pts.addingReportingOverflow(max(0, sample.duration)).partialValue
        return sample.pts < range.upperBound && (type == .video || max(end, sample.pts) > range.lowerBound)
    }

    func extent(of sample: MediaSample) -> (pts: Int64, duration: Int64)? {
        guard let range else { return (sample.pts, sample.duration) }
        let end = sample.pts.addingReportingOverflow(max(0, sample.duration)).partialValue
        let start = max(sample.pts, range.lowerBound)
        guard start < range.upperBound, max(end, sample.pts) >= start else { return nil }
        return (start, max(0, min(end, range.upperBound) - start))
    }
}
