import HLSKitCodec
import HLSKitMedia

/// Separates decoded samples that belong to the source from padding that the encoder added.
struct GaplessTrimmer: Sendable, Hashable {
    private let padding: [Range<Int>]
    private var position = 0

    /// - Parameter info: The gapless information of the stream from its first frame, or `nil` to keep everything.
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

    /// Skips audio that is not decoded because reading starts after it.
    mutating func pass(_ ticks: Int64, timescale: Int32, sampleRate: Int) {
        guard !padding.isEmpty, ticks > 0, timescale > 0 else { return }
        position += Int((Double(ticks) * Double(sampleRate) / Double(timescale)).rounded())
    }

    /// Returns the ranges of the next `count` samples to keep, relative to the first of them.
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

    mutating func trim(_ buffer: AudioBuffer) throws(CodecError) -> [AudioBuffer] {
        let parts = parts(ofNext: buffer.frameCount)
        if parts == [0..<buffer.frameCount] { return [buffer] }
        var buffers: [AudioBuffer] = []
        for part in parts {
            buffers.append(try buffer.trimmed(leading: part.lowerBound, trailing: buffer.frameCount - part.upperBound))
        }
        return buffers
    }
}
