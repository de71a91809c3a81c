public import HLSKitTime

/// The times of images that represent a video, and the time range that each image covers.
///
/// A plan makes no requests. ``ImageGenerator/images(for:)`` creates the images of ``times``, ``ContactSheet`` combines
/// them, and ``ContactSheet/webVTT(timeRanges:imageURI:)`` maps them to their times.
public struct StoryboardPlan: Sendable, Hashable {
    package static let maximumCount = 10_000

    /// The times of the images, in order.
    public let times: [MediaTime]
    /// The time range that each image covers, one for each of ``times``.
    public let timeRanges: [MediaTimeRange]

    private init(_ entries: [(time: Duration, range: Range<Duration>)]) {
        times = entries.map { Self.time($0.time) }
        timeRanges = entries.map {
            MediaTimeRange(start: Self.time($0.range.lowerBound), end: Self.time($0.range.upperBound))
        }
    }

    /// Creates a plan with evenly spread images.
    ///
    /// Each image shows the middle of its range because the very start is often black.
    ///
    /// - Parameters:
    ///   - count: The number of images, at most 10,000.
    ///   - duration: The duration of the video. The plan is empty if it is not numeric or not above zero.
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

    /// Creates a plan with an image at each multiple of an interval.
    ///
    /// Each image covers the interval that it begins.
    ///
    /// - Parameters:
    ///   - interval: The interval, which must be above zero.
    ///   - duration: The duration of the video.
    /// - Returns: The plan, or `nil` if it would have more than 10,000 images, or one of the two is not numeric and
    ///   above zero.
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

    /// Creates a plan with an image at each given time.
    ///
    /// Each image covers the time until the next one.
    ///
    /// - Parameters:
    ///   - times: The times, in any order. Times that are not numeric are omitted.
    ///   - duration: The duration of the video. The last image covers the rest of it, or no time if the duration is not
    ///     numeric.
    public init(times: [MediaTime], duration: MediaTime) {
        let times = times.compactMap(\.duration).sorted().prefix(Self.maximumCount)
        let next = times.dropFirst() + [duration.duration ?? .zero]
        self.init(zip(times, next).map { time, next in (time, time..<max(time, next)) })
    }

    private static func time(_ time: Duration) -> MediaTime { MediaTime(time, timescale: 1_000_000_000) }
}
