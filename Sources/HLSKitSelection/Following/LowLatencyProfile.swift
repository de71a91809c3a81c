import HLSKitLoading
package import HLSKitPlaylist

/// Whether a live playlist can be played with low latency, and if its parts are of no use, why.
///
/// Source: rfc8216bis §4.4.3.7, §4.4.3.8, §4.4.4.9, appendix B.
package enum LowLatencyProfile: Sendable, Hashable {
    /// Nothing of it is offered, or wanted.
    case ordinary
    /// Parts are offered, and not used.
    case declined(Reason)
    case lowLatency

    package enum Reason: Sendable, Hashable {
        /// The server holds no requests (`CAN-BLOCK-RELOAD`).
        case holdsNoRequests
        case noPartTarget
        case noPartHoldBack
        case shortPartHoldBack(Duration, partTarget: Duration)
        case longPart(Duration, partTarget: Duration)
        /// It says that it holds requests, and answers with what was known, or not in time.
        case doesNotHold
        /// Each request takes a connection of its own.
        case keepsNoConnections
    }

    /// Parts are cut where frames are: what is over the target by less is no fault.
    private static let tolerance = 1.1

    /// - Parameters:
    ///   - isAllowed: the program wants it.
    ///   - keepsWord: requests were held as they should be, or none was asked to be.
    ///   - keepsConnections: one connection carries many requests, as far as is known.
    package init(of playlist: MediaPlaylist, isAllowed: Bool, keepsWord: Bool = true, keepsConnections: Bool = true) {
        guard isAllowed, !playlist.isComplete, playlist.offersParts else {
            self = .ordinary
            return
        }
        let obstacle = Self.obstacle(in: playlist, keepsWord: keepsWord)
        self = (obstacle ?? (keepsConnections ? nil : .keepsNoConnections)).map { .declined($0) } ?? .lowLatency
    }

    private static func obstacle(in playlist: MediaPlaylist, keepsWord: Bool) -> Reason? {
        guard let control = playlist.serverControl, control.canBlockReload else { return .holdsNoRequests }
        guard let target = playlist.partTarget, target > .zero else { return .noPartTarget }
        guard let holdBack = control.partHoldBack else { return .noPartHoldBack }
        if holdBack < target * 2 { return .shortPartHoldBack(holdBack, partTarget: target) }
        let longest = playlist.longestPart
        if longest > target * tolerance { return .longPart(longest, partTarget: target) }
        return keepsWord ? nil : .doesNotHold
    }
}

extension LowLatencyProfile.Reason {
    /// In words, for people.
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
    /// It lists parts, or says that it will.
    fileprivate var offersParts: Bool {
        partTarget != nil || !trailingParts.isEmpty || segments.last.map { !$0.parts.isEmpty } ?? false
    }

    /// Of those that are listed: parts are at the end of a list.
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
