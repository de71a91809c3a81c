public import HLSKitCodec
public import HLSKitLoading
public import HLSKitTime

struct ImageOptions: Sendable, Hashable {
    var maximumSize = PixelSize.zero
    /// The maximum time by which a frame may be earlier or later than requested, or nil for no limit.
    var toleranceBefore: Duration?
    var toleranceAfter: Duration?
    var appliesTransform = false
    var apertureMode = ImageApertureMode.cleanAperture
    var dynamicRangePolicy = DynamicRangePolicy.forceSDR

    var isExact: Bool { toleranceBefore == .zero && toleranceAfter == .zero }

    func allows(_ actual: Duration, for time: Duration) -> Bool {
        let limit = actual <= time ? toleranceBefore : toleranceAfter
        return limit.map { abs(actual - time) <= $0 } ?? true
    }

    /// Converts a tolerance. A value that is not a number, other than infinity, sets no limit, and the minimum is zero.
    static func tolerance(_ time: MediaTime) -> Duration? { time.duration.map { max(.zero, $0) } }
}

struct RequestedImage: Sendable, Hashable {
    var index: Int
    var requested: MediaTime
    var time: Duration
}

/// The outcome for one requested time.
public enum ImageGenerationResult: Sendable {
    /// The image and the presentation time of its frame.
    case succeeded(requested: MediaTime, actual: MediaTime, image: StillImage)
    case failed(requested: MediaTime, error: HLSError)
    /// The generator was stopped, or the requesting task was cancelled.
    case cancelled(requested: MediaTime)

    /// The requested time.
    public var requestedTime: MediaTime {
        switch self {
        case .succeeded(let time, _, _), .failed(let time, _), .cancelled(let time): time
        }
    }

    /// The image, or `nil` if there is none.
    public var image: StillImage? {
        if case .succeeded(_, _, let image) = self { image } else { nil }
    }

    /// The presentation time of the frame, or `nil` if there is none.
    public var actualTime: MediaTime? {
        if case .succeeded(_, let time, _) = self { time } else { nil }
    }
}
