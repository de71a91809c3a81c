import Synchronization

/// Holds the current item of a player.
final class CurrentItem: Sendable {
    private let value = Mutex<PlayerItem?>(nil)

    var item: PlayerItem? {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}
