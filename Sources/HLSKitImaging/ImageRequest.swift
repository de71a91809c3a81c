public import HLSKitCodec
public import HLSKitLoading
public import HLSKitTime

/// Settings for all images of one request, as of when the request was made.
struct ImageOptions: Sendable, Hashable {
    var maximumSize = PixelSize.zero
    /// How much earlier or later than wanted a picture may be; nil means no limit.
    var toleranceBefore: Duration?
    var toleranceAfter: Duration?
    var appliesTransform = false
    var apertureMode = ImageApertureMode.cleanAperture
    var dynamicRangePolicy = DynamicRangePolicy.forceSDR

    /// Nothing but the picture that is shown at the time will do.
    var isExact: Bool { toleranceBefore == .zero && toleranceAfter == .zero }

    func allows(_ actual: Duration, for time: Duration) -> Bool {
        let limit = actual <= time ? toleranceBefore : toleranceAfter
        return limit.map { abs(actual - time) <= $0 } ?? true
    }

    /// A tolerance as people give it; what is not a number but infinity sets no limit, and none is below zero.
    static func tolerance(_ time: MediaTime) -> Duration? { time.duration.map { max(.zero, $0) } }
}

/// A time of which an image is wanted.
struct ImageWish: Sendable, Hashable {
    /// Its place among the results.
    var index: Int
    var requested: MediaTime
    var time: Duration
}

/// The outcome for one requested time.
public enum ImageGenerationResult: Sendable {
    /// `actual` is the presentation time of the picture.
    case succeeded(requested: MediaTime, actual: MediaTime, image: StillImage)
    case failed(requested: MediaTime, error: HLSError)
    /// The generator was stopped, or the requesting task was cancelled.
    case cancelled(requested: MediaTime)

    /// The time that was asked for.
    public var requestedTime: MediaTime {
        switch self {
        case .succeeded(let time, _, _), .failed(let time, _), .cancelled(let time): time
        }
    }

    /// The image; nil if there is none.
    public var image: StillImage? {
        if case .succeeded(_, _, let image) = self { image } else { nil }
    }

    /// The presentation time of the picture; nil if there is none.
    public var actualTime: MediaTime? {
        if case .succeeded(_, let time, _) = self { time } else { nil }
    }
}
