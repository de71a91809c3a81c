import HLSGetKit
import HLSKitCore

/// A line on the progress of a download: `42%  4:12 / 9:56  31 MB  5.6 MB/s  0:07 left`.
struct DownloadLine: Sendable, Equatable {
    var width: Int

    static let window = Duration.seconds(5)

    func render(_ progress: DownloadProgress, bytesPerSecond: Double?) -> String {
        var parts: [String] = []
        switch progress.phase {
        case .opening: parts.append("opening")
        case .writing:
            let fraction = progress.mediaDuration > .zero ? progress.writtenDuration / progress.mediaDuration : 0
            parts.append("writing \(Self.percent(min(max(fraction, 0), 1)))")
            parts.append(Self.bytes(progress.storedByteCount))
        case .loading:
            if let fraction = progress.fraction {
                parts.append(Self.percent(fraction))
            } else {
                parts.append("live \(Decimals.clock(Self.recorded(progress)))")
            }
            parts.append(Decimals.count(progress.segmentCount, "segment").split(separator: " ").joined(separator: " "))
            if !progress.isLive {
                parts[parts.count - 1] = "\(progress.segmentCount) / \(progress.totalSegmentCount) segments"
            }
            parts.append(Self.bytes(progress.storedByteCount))
            if let bytesPerSecond { parts.append("\(Self.bytes(Int(bytesPerSecond)))/s") }
            if let left = Self.timeLeft(progress, bytesPerSecond: bytesPerSecond) {
                parts.append("\(Decimals.clock(left)) left")
            }
        }
        while parts.count > 1, parts.joined(separator: "  ").count > width - 1 { parts.remove(at: parts.count - 1) }
        return String(parts.joined(separator: "  ").prefix(max(0, width - 1)))
    }

    /// The time of the variant on the disk, in seconds. Other tracks are loaded for the same time.
    static func recorded(_ progress: DownloadProgress) -> Double {
        progress.loadedTimeRanges.reduce(0) { $0 + ($1.duration.finiteSeconds ?? 0) }
    }

    /// The remaining time in seconds, estimated from the bytes per second of media so far, or `nil` if unknown.
    static func timeLeft(_ progress: DownloadProgress, bytesPerSecond: Double?) -> Double? {
        guard !progress.isLive, progress.phase == .loading, let bytesPerSecond, bytesPerSecond > 0,
            progress.duration > .zero, progress.storedByteCount > 0
        else { return nil }
        let rest = max(.zero, progress.totalDuration - progress.duration)
        let bytesPerMediaSecond = Double(progress.storedByteCount) / (progress.duration / .seconds(1))
        return rest / .seconds(1) * bytesPerMediaSecond / bytesPerSecond
    }

    private static func bytes(_ count: Int) -> String { Decimals.bytes(count) }

    /// Rounds down, so that only a complete download shows 100 %.
    private static func percent(_ fraction: Double) -> String { "\(Int((fraction * 100).rounded(.down)))%" }
}

/// The mean rate in bytes per second over a recent period.
struct RateMeter: Sendable {
    private var marks: [(time: Duration, byteCount: Int)] = []
    private let window: Duration

    init(window: Duration) { self.window = window }

    /// Returns `nil` during the first second.
    mutating func rate(at time: Duration, byteCount: Int) -> Double? {
        marks.append((time, byteCount))
        while marks.count > 2, time - marks[1].time >= window { marks.removeFirst() }
        guard let first = marks.first, time - first.time >= .seconds(1) else { return nil }
        return Double(byteCount - first.byteCount) / ((time - first.time) / .seconds(1))
    }
}
