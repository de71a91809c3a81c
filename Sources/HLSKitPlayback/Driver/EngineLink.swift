import HLSKitEngine

/// The driver's end of its engine: puts events in, and keeps what came out until it is carried out.
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

    /// Takes the lock of the player once.
    mutating func handle(_ events: [EngineEvent]) {
        guard !events.isEmpty else { return }
        exchange(events)
    }

    private mutating func exchange(_ events: [EngineEvent]) {
        // What is news now is among what comes.
        _ = inbox.takeNews()
        guard let turn = channel.exchange(events) else { return }
        view = turn.view
        if effects.isEmpty { effects = turn.effects } else { effects += turn.effects }
    }

    /// What is to be carried out next, decided by the driver's events or by whatever else has news for the engine.
    mutating func takeEffects() -> [EngineEffect] {
        if effects.isEmpty, inbox.takeNews() { exchange([]) }
        defer { effects = [] }
        return effects
    }

    /// What was decided up to the very end.
    mutating func takeLastEffects() -> [EngineEffect] {
        exchange([])
        defer { effects = [] }
        return effects
    }
}
