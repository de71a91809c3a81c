import HLSKitMedia

/// Why a lane goes on with something else than the segment after its last one.
///
/// | | media that is loaded | segments under way | may repeat media | failures until now |
/// |---|---|---|---|---|
/// | `jump` | counts no longer | let go | no | forgotten |
/// | `elsewhere` | stays | stay | yes | count on |
/// | `again` | stays | let go before | yes | of this segment: count on |
/// | `cut` | stays up to the cut | those behind it let go before | yes | count on |
/// | `replacement` | plays until the new media is there | let go | no | forgotten |
/// | `late` | stays, for those who took it | let go | no | forgotten |
/// | `hole` | stays | stay | as before | count on |
enum LaneRestart: Hashable, Sendable {
    /// The playhead has jumped: media is loaded from there on. `loadedEnd`: where what is loaded then begins.
    case jump(loadedEnd: Duration)
    /// The same media comes from another playlist: a variant, a host, a fresh URL.
    case elsewhere
    /// A segment is asked for once more, with the tries of this role.
    case again(SegmentID)
    /// Media from this time on is loaded once more, in another quality.
    case cut(Duration)
    /// Another rendition; such changes are numbered.
    case replacement(Int)
    /// Outputs came late to media that was loaded and dropped.
    case late
    /// Segments are missing, or the server counts anew: what follows does not follow on what is loaded.
    case hole

    /// Nothing that was begun before is of use.
    var forgets: Bool {
        switch self {
        case .jump, .replacement, .late: true
        case .elsewhere, .again, .cut, .hole: false
        }
    }

    /// The end that the lane had come to is no end any more.
    var reopens: Bool {
        if case .cut = self { true } else { forgets }
    }

    /// How the next segment joins on, where it would have done so as `before` says.
    func joint(after before: LaneJoint) -> LaneJoint {
        switch self {
        case .jump, .replacement, .late: .begins
        case .elsewhere, .cut: .repeats(role: before.role)
        case .again(let role): .repeats(role: role)
        case .hole: before == .follows ? .begins : before
        }
    }
}
