import HLSKitMedia

/// Tells which of the samples that come out of a decoder are of the source, and which the encoder has added.
struct GaplessTrimmer: Sendable, Hashable {
    private let padding: [Range<Int>]
    private var position = 0

    /// - Parameter info: what the stream tells from its first frame on; nil keeps everything.
    init(_ info: GaplessInfo? = nil) {
        guard let info else {
            padding = []
            return
        }
        var padding = [0..<max(0, info.leadingSampleCount)]
        if let valid = info.validSampleCount, valid > 0, info.trailingSampleCount > 0 {
            let start = padding[0].upperBound + valid
            padding.append(start..<start + info.trailingSampleCount)
        }
        self.padding = padding
    }

    /// Passes over sound that is not decoded: reading begins behind it.
    mutating func pass(_ ticks: Int64, timescale: Int32, sampleRate: Int) {
        guard !padding.isEmpty, ticks > 0, timescale > 0 else { return }
        position += Int((Double(ticks) * Double(sampleRate) / Double(timescale)).rounded())
    }

    /// The parts of the next `count` samples that are kept, counted from the first of these.
    mutating func parts(ofNext count: Int) -> [Range<Int>] {
        let start = position
        position += count
        var rest = start..<position
        var parts: [Range<Int>] = []
        for range in padding where range.overlaps(rest) {
            if rest.lowerBound < range.lowerBound { parts.append(rest.lowerBound..<range.lowerBound) }
            rest = min(range.upperBound, rest.upperBound)..<rest.upperBound
        }
        if !rest.isEmpty { parts.append(rest) }
        return parts.map { $0.lowerBound - start..<$0.upperBound - start }
    }
}
