import HLSKitCore
import HLSKitSimulation

struct VirtualPlay {
    var log: EventLog
    var state: PlayerState
    var duration: Duration

    init(
        _ url: String, clock: VirtualClock, transport: any ResourceTransport, limit: Duration = .seconds(36_000),
        writers: [any MediaWriter] = [], change: (inout PlayerConfiguration) -> Void = { _ in },
        prefer: (PlayerItem) -> Void = { _ in }
    ) throws {
        var configuration = PlayerConfiguration(clock: clock, transport: transport)
        change(&configuration)
        let player = Player(configuration: configuration)
        let item = PlayerItem(urlString: url)
        prefer(item)
        for writer in writers { item.add(writer) }
        let events = player.events()
        player.play()
        try player.replaceCurrentItem(with: item)
        // Closing the player would pause it, so its state is read first.
        let end = Task(executorPreference: clock) { () -> PlayerState? in
            do { try await clock.sleep(for: limit) } catch { return nil }
            let state = player.state
            await player.close()
            return state
        }
        (log, state, duration) = try clock.run {
            var log = EventLog()
            var time = Duration.zero
            for await event in events {
                log.append(event)
                time = event.hostTime.offset
                if event.isLast { break }
            }
            let state = player.state
            end.cancel()
            let stateAtLimit = await end.value
            await player.close()
            return (log, stateAtLimit ?? state, time)
        }
    }
}

extension PlayerEvent {
    var isLast: Bool {
        switch kind {
        case .didPlayToEnd, .failedToPlayToEnd, .itemStatusChanged(.failed): true
        default: false
        }
    }
}
