import HLSKitLoading
package import HLSKitSelection

/// The purpose of a request. All properties that depend on it are derived here.
package enum RequestPurpose: Hashable, Sendable {
    case firstPlaylist
    case mediaPlaylist(LaneID)
    /// `role` is the segment to which failures are attributed: this one, or the one in another variant that it
    /// replaces.
    case segment(SegmentID, role: SegmentID)
    /// The head of the stream that the segment belongs to.
    case head(SegmentID)
    case resource(ResourceID, LaneID)
    /// A resource that the playlist has hinted at.
    case hint(LaneID, PreloadHints.Kind)
    case steering
    /// The asset list of the interstitial with this ID.
    case assetList(String)

    /// The lane that waits for the request, or `nil` if the request precedes all lanes.
    var lane: LaneID? {
        switch self {
        case .firstPlaylist, .steering, .assetList: nil
        case .mediaPlaylist(let lane), .resource(_, let lane), .hint(let lane, _): lane
        case .segment(let segment, _), .head(let segment): segment.lane
        }
    }

    package var segment: SegmentID? {
        if case .segment(let segment, _) = self { segment } else { nil }
    }

    /// The role to which failures and retries are attributed, or `nil` if the request is never retried.
    var role: RequestRole? {
        switch self {
        case .firstPlaylist: .firstPlaylist
        case .mediaPlaylist(let lane): .mediaPlaylist(lane)
        case .segment(_, let role): .segment(role)
        case .head, .hint, .steering, .assetList: nil
        case .resource(let resource, let lane): resource.kind == .key ? .key(lane) : .map(lane)
        }
    }

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

    /// Whether its bytes are used to measure the throughput.
    var isMeasured: Bool { resourceClass == .segment }

    var isHint: Bool { if case .hint = self { true } else { false } }
}

/// The owner of failures and retries. Several URLs can serve the same role one after another.
package enum RequestRole: Hashable, Sendable {
    case firstPlaylist
    case mediaPlaylist(LaneID)
    /// The segment that was first requested in this role. Another one may deliver it later.
    case segment(SegmentID)
    case map(LaneID)
    case key(LaneID)

    /// The roles of a lane that outlast its segments.
    static func lasting(of lane: LaneID) -> [RequestRole] { [.mediaPlaylist(lane), .map(lane), .key(lane)] }
}
