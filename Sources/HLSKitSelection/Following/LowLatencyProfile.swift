import HLSKitLoading
package import HLSKitPlaylist
import HLSKitTime

/// Whether a live playlist can be played with low latency and, if its parts are not usable, the reason.
///
/// Source: rfc8216bis §4.4.3.7, §4.4.3.8, §4.4.4.9, appendix B.
package enum LowLatencyProfile: Sendable, Hashable {
    /// Low latency is not offered, or not wanted.
    case ordinary
    /// Parts are offered, but not used.
    case declined(Reason)
    case lowLatency

    package enum Reason: Sendable, Hashable {
        /// The server does not support blocking reloads (`CAN-BLOCK-RELOAD`).
        case holdsNoRequests
        case noPartTarget
        case noPartHoldBack
        case shortPartHoldBack(Duration, partTarget: Duration)
        case longPart(Duration, partTarget: Duration)
        /// The server claims to support blocking reloads, but answers with the known playlist or too late.
        case doesNotHold
        /// Each request needs a new connection.
        case keepsNoConnections
    }

    /// The factor by which parts may exceed the part target without fault, because they are cut at frame boundaries.
    private static let tolerance = 1.1

    /// - Parameters:
    ///   - isAllowed: Whether the app allows low latency.
    ///   - keepsWord: Whether the server has answered blocking requests as it should, or has received none.
    ///   - keepsConnections: Whether one connection carries many requests, as far as is known.
    package init(of playlist: MediaPlaylist, isAllowed: Bool, keepsPromises: Bool = true, keepsConnections: Bool = true)
    {
        guard isAllowed, !playlist.isComplete, playlist.offersParts else {
            self = .ordinary
            return
        }
        let obstacle = Self.obstacle(in: playlist, keepsPromises: keepsPromises)
        self = (obstacle ?? (keepsConnections ? nil : .keepsNoConnections)).map { .declined($0) } ?? .lowLatency
    }

    private static func obstacle(in playlist: MediaPlaylist, keepsPromises: Bool) -> Reason? {
        guard let control = playlist.serverControl, control.canBlockReload else { return .holdsNoRequests }
        guard let target = playlist.partTarget, target > .zero else { return .noPartTarget }
        guard let holdBack = control.partHoldBack else { return .noPartHoldBack }
        if holdBack < target * 2 { return .shortPartHoldBack(holdBack, partTarget: target) }
        let longest = playlist.longestPart
        if longest > target * tolerance { return .longPart(longest, partTarget: target) }
        return keepsPromises ? nil : .doesNotHold
    }
}

extension LowLatencyProfile.Reason {
    package var text: String {
        switch self {
        case .holdsNoRequests: "the server does not hold requests (CAN-BLOCK-RELOAD)"
        case .noPartTarget: "the playlist has no PART-TARGET"
        case .noPartHoldBack: "the playlist has no PART-HOLD-BACK"
        case .shortPartHoldBack(let holdBack, let target):
            "PART-HOLD-BACK of \(holdBack.seconds) s is below two parts of \(target.seconds) s"
        case .longPart(let part, let target):
            "a part of \(part.seconds) s is longer than PART-TARGET of \(target.seconds) s"
        case .doesNotHold: "the server does not hold requests, though it says so"
        case .keepsNoConnections: "the server does not keep connections"
        }
    }
}

extension MediaPlaylist {
    fileprivate var offersParts: Bool {
        partTarget != nil || !trailingParts.isEmpty || segments.last.map { !$0.parts.isEmpty } ?? false
    }

    /// The longest listed part. Only the end of a playlist has parts.
    fileprivate var longestPart: Duration {
        var longest = trailingParts.map(\.duration).max() ?? .zero
        for segment in segments.reversed() {
            let parts = segment.parts
            if parts.isEmpty { break }
            for part in parts { longest = max(longest, part.duration) }
        }
        return longest
    }
}
