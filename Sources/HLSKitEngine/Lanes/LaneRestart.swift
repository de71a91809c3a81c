import HLSKitMedia

/// The reason why a lane continues with something other than the next segment.
///
/// | | loaded media | segments in flight | may repeat media | previous failures |
/// |---|---|---|---|---|
/// | `jump` | is ignored | are dropped | no | are forgotten |
/// | `elsewhere` | is kept | are kept | yes | are kept |
/// | `again` | is kept | were dropped before | yes | are kept for this segment |
/// | `cut` | is kept up to the cut | were dropped before if after the cut | yes | are kept |
/// | `replacement` | plays until new media arrives | are dropped | no | are forgotten |
/// | `late` | is kept for existing outputs | are dropped | no | are forgotten |
/// | `hole` | is kept | are kept | unchanged | are kept |
enum LaneRestart: Hashable, Sendable {
    /// The playhead has jumped, and media is loaded from its new position.
    ///
    /// `loadedEnd`: the start of the media that is loaded then.
    case jump(loadedEnd: Duration)
    /// The same media comes from another playlist because of a new variant, host or URL.
    case elsewhere
    /// A segment is requested again and uses the attempts of this role.
    case again(SegmentID)
    /// Media from this time is loaded again in another quality.
    case cut(Duration)
    /// Another rendition replaces the current one. The number identifies the change.
    case replacement(Int)
    /// Outputs arrived after media for them was loaded and dropped.
    case late
    /// Segments are missing or the server has restarted, so the next media does not follow loaded media.
    case hole

    /// Whether everything begun earlier is useless.
    var forgets: Bool {
        switch self {
        case .jump, .replacement, .late: true
        case .elsewhere, .again, .cut, .hole: false
        }
    }

    /// Whether a lane that had ended continues.
    var reopens: Bool {
        if case .cut = self { true } else { forgets }
    }

    /// Returns how the next segment joins if it would otherwise join as `before`.
    func joint(after before: LaneJoint) -> LaneJoint {
        switch self {
        case .jump, .replacement, .late: .begins
        case .elsewhere, .cut: .repeats(role: before.role)
        case .again(let role): .repeats(role: role)
        case .hole: before == .follows ? .begins : before
        }
    }
}
