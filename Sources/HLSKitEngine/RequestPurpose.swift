import HLSKitLoading
package import HLSKitSelection

/// What a request is for. Everything else that depends on it is derived here.
package enum RequestPurpose: Hashable, Sendable {
    case firstPlaylist
    case mediaPlaylist(LaneID)
    /// `role`: what its failures are counted for, the segment itself or the one in another variant that it stands for.
    case segment(SegmentID, role: SegmentID)
    /// The head of the stream that the segment belongs to.
    case head(SegmentID)
    case resource(ResourceID, LaneID)
    /// What a list says that it will name.
    case hint(LaneID, PreloadHints.Kind)
    /// The manifest of the steering server.
    case steering
    /// What the interstitial with this ID plays.
    case assetList(String)

    /// The lane that waits for it; nil for what comes before there are lanes.
    var lane: LaneID? {
        switch self {
        case .firstPlaylist, .steering, .assetList: nil
        case .mediaPlaylist(let lane), .resource(_, let lane), .hint(let lane, _): lane
        case .segment(let segment, _), .head(let segment): segment.lane
        }
    }

    /// The segment whose bytes it brings.
    package var segment: SegmentID? {
        if case .segment(let segment, _) = self { segment } else { nil }
    }

    /// What its failures and retries are counted for; nil for what is not asked for a second time.
    var role: RequestRole? {
        switch self {
        case .firstPlaylist: .firstPlaylist
        case .mediaPlaylist(let lane): .mediaPlaylist(lane)
        case .segment(_, let role): .segment(role)
        case .head, .hint, .steering, .assetList: nil
        case .resource(let resource, let lane): resource.kind == .key ? .key(lane) : .map(lane)
        }
    }

    /// The transport's word for it.
    var resourceClass: ResourceClass {
        switch self {
        case .firstPlaylist: .multivariantPlaylist
        case .mediaPlaylist: .mediaPlaylist
        case .segment, .head: .segment
        case .resource(let resource, _): resource.kind == .key ? .key : .initializationSection
        case .hint(_, let kind): kind == .map ? .initializationSection : .segment
        case .steering: .steering
        case .assetList: .assetList
        }
    }

    /// Its bytes are media that the throughput is measured with.
    var isMeasured: Bool { resourceClass == .segment }

    /// It is asked for before it is listed.
    var isHint: Bool { if case .hint = self { true } else { false } }
}

/// Whom failures and retries belong to: a role, not a request. One role may be played by several URLs after each other.
package enum RequestRole: Hashable, Sendable {
    case firstPlaylist
    case mediaPlaylist(LaneID)
    /// The segment that was first asked for as this; it may be another's turn to deliver it.
    case segment(SegmentID)
    case map(LaneID)
    case key(LaneID)

    /// Those of a lane that outlast its segments.
    static func lasting(of lane: LaneID) -> [RequestRole] { [.mediaPlaylist(lane), .map(lane), .key(lane)] }
}
