import HLSKitEngine

/// The driver's side of its engine: passes events to it, and keeps its effects until they are carried out.
struct EngineLink {
    private let channel: EngineChannel
    private let inbox: DriverInbox
    private(set) var view = EngineView()
    private var effects: [EngineEffect] = []

    init(_ channel: EngineChannel, inbox: DriverInbox) {
        self.channel = channel
        self.inbox = inbox
    }

    mutating func handle(_ event: EngineEvent) { handle([event]) }

    /// Passes events to the engine. Takes the player's lock once.
    mutating func handle(_ events: [EngineEvent]) {
        guard !events.isEmpty else { return }
        exchange(events)
    }

    private mutating func exchange(_ events: [EngineEvent]) {
        // The exchange returns all pending news.
        _ = inbox.takeNews()
        guard let turn = channel.exchange(events) else { return }
        view = turn.view
        if effects.isEmpty { effects = turn.effects } else { effects += turn.effects }
    }

    /// Returns the effects to carry out next, from the driver's events or from other changes to the engine.
    mutating func takeEffects() -> [EngineEffect] {
        if effects.isEmpty, inbox.takeNews() { exchange([]) }
        defer { effects = [] }
        return effects
    }

    /// Returns the effects of decisions made up to the end.
    mutating func takeLastEffects() -> [EngineEffect] {
        exchange([])
        defer { effects = [] }
        return effects
    }
}
