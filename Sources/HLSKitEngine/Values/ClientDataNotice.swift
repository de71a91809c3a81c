import HLSKitLoading

/// Something about a session that only the program knows, for those who are told of events: ``Player/report(_:)``.
public enum ClientDataNotice: Sendable, Hashable {
    /// The user cannot see the player any more, or can again.
    case backgrounded(Bool)
    case playerExpanded
    case playerCollapsed
    case adBreakStarted
    case adBreakEnded
    case adStarted
    case adEnded
    case adSkipped
    case muted
    case unmuted
    /// An event of the program's own, by a name of at most 64 characters.
    case custom(String)

    var kind: ClientData.Event {
        switch self {
        case .backgrounded: .backgrounded
        case .playerExpanded: .playerExpand
        case .playerCollapsed: .playerCollapse
        case .adBreakStarted: .adBreakStart
        case .adBreakEnded: .adBreakEnd
        case .adStarted: .adStart
        case .adEnded: .adEnd
        case .adSkipped: .skip
        case .muted: .mute
        case .unmuted: .unmute
        case .custom: .custom
        }
    }
}
