/// Where the media begins that is presented after a seek.
///
/// See docs/behaviour/seeking.md.
package enum Landing: Sendable, Hashable {
    /// At this item time exactly: with the picture that is shown at it, decoded from the sync sample before.
    case exact(Duration)
    /// At a sync sample of the video, or wherever samples begin.
    case sync(Duration)
    /// At the start of a segment, with whatever its first sample is.
    case segmentStart(Duration)
    /// Near this item time: where exactly is decided when media is there. Nothing is read until then.
    case undecided(near: Duration)

    /// The item time that the playhead has there.
    package var time: Duration {
        switch self {
        case .exact(let time), .sync(let time), .segmentStart(let time), .undecided(let time): time
        }
    }

    /// Media before this is decoded and dropped.
    package var floor: Duration? {
        switch self {
        case .exact(let time), .sync(let time): time
        case .segmentStart, .undecided: nil
        }
    }
}
