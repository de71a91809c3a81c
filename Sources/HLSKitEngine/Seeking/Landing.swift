/// The position at which media is presented after a seek.
package enum Landing: Sendable, Hashable {
    /// At exactly this item time. Its frame is decoded from the previous sync sample.
    case exact(Duration)
    /// At a sync sample of the video or at the start of any sample.
    case sync(Duration)
    /// At the start of a segment, with its first sample.
    case segmentStart(Duration)
    /// Near this item time. Once media is available, the exact position is chosen. Nothing is read before that.
    case undecided(near: Duration)

    /// The item time of the playhead at this landing.
    package var time: Duration {
        switch self {
        case .exact(let time), .sync(let time), .segmentStart(let time), .undecided(let time): time
        }
    }

    /// The item time before which media is decoded and dropped.
    package var floor: Duration? {
        switch self {
        case .exact(let time), .sync(let time): time
        case .segmentStart, .undecided: nil
        }
    }
}
