import HLSKitLoading

/// An app-defined event of a session, which ``Player/report(_:)`` sends to the CMCD event targets.
public enum ClientDataNotice: Sendable, Hashable {
    /// The player became invisible to the user, or visible again.
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
    /// A custom event with a name of at most 64 characters.
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
