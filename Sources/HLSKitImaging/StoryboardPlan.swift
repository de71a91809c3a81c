public import HLSKitTime

/// Which images represent a stretch of video, and which part of it each of them stands for.
///
/// A value; it makes no request. ``ImageGenerator/images(for:)`` makes the images of ``times``,
/// ``ContactSheet`` puts them together, and ``ContactSheet/webVTT(timeRanges:imageURI:)`` says which is for which time.
public struct StoryboardPlan: Sendable, Hashable {
    /// A plan has at most so many images.
    package static let maximumCount = 10_000

    /// The times of the images, in order.
    public let times: [MediaTime]
    /// The part that each image stands for: as many as ``times``.
    public let timeRanges: [MediaTimeRange]

    private init(_ entries: [(time: Duration, range: Range<Duration>)]) {
        times = entries.map { Self.time($0.time) }
        timeRanges = entries.map {
            MediaTimeRange(start: Self.time($0.range.lowerBound), end: Self.time($0.range.upperBound))
        }
    }

    /// Images that are evenly spread: each in the middle of what it stands for, because the very start is often black.
    ///
    /// - Parameters:
    ///   - count: how many, at most 10,000.
    ///   - duration: of all of the video. Empty if it is not numeric, or not above zero.
    public init(count: Int, duration: MediaTime) {
        guard let end = duration.duration, end > .zero, count > 0 else {
            self.init([])
            return
        }
        let count = min(count, Self.maximumCount)
        // Divided first: a file may declare any duration.
        let length = end / count
        self.init(
            (0..<count).map { index in
                let range = length * index..<(index + 1 == count ? end : length * (index + 1))
                return (range.lowerBound + (range.upperBound - range.lowerBound) / 2, range)
            })
    }

    /// An image at each multiple of an interval, which it stands for from there on.
    ///
    /// - Parameters:
    ///   - interval: above zero.
    ///   - duration: of all of the video.
    /// - Returns: nil if that is more than 10,000 images, or one of the two is not numeric and above zero.
    public init?(every interval: MediaTime, duration: MediaTime) {
        guard let step = interval.duration, step > .zero, let end = duration.duration, end > .zero,
            end / step <= Double(Self.maximumCount)
        else { return nil }
        var entries: [(time: Duration, range: Range<Duration>)] = []
        var time = Duration.zero
        while time < end {
            entries.append((time, time..<min(time + step, end)))
            time += step
        }
        self.init(entries)
    }

    /// Images at some times, each of which stands for what lies before the next one.
    ///
    /// - Parameters:
    ///   - times: in any order. Those that are not numeric are left out.
    ///   - duration: of all of the video; the last image stands for the rest of it, and for nothing where it is not
    ///     numeric.
    public init(times: [MediaTime], duration: MediaTime) {
        let times = times.compactMap(\.duration).sorted().prefix(Self.maximumCount)
        let next = times.dropFirst() + [duration.duration ?? .zero]
        self.init(zip(times, next).map { time, next in (time, time..<max(time, next)) })
    }

    private static func time(_ time: Duration) -> MediaTime { MediaTime(time, timescale: 1_000_000_000) }
}
