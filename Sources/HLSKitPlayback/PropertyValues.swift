import HLSKitLoading

/// The values of one property of a player, an item or a looper: the current one, then each changed one.
///
/// A slow reader gets only the newest value. The sequence does not keep the player or the item alive. It ends with that
/// object, when its player is closed, or with the reading task. Each iteration starts with the value at that time.
public struct PropertyValues<Value: Equatable & Sendable>: AsyncSequence, Sendable {
    let changes: @Sendable () -> AsyncStream<Void>
    let read: @Sendable () -> Value?

    public func makeAsyncIterator() -> Iterator { Iterator(changes: changes().makeAsyncIterator(), read: read) }

    /// Iterates over the values.
    public struct Iterator: AsyncIteratorProtocol {
        var changes: AsyncStream<Void>.Iterator
        let read: @Sendable () -> Value?
        var last: Value?

        /// Waits for a value that differs from the last one, and returns it or `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Value? {
            while true {
                if last != nil {
                    guard await changes.next(isolation: actor) != nil else { return nil }
                }
                guard !Task.isCancelled, let value = read() else { return nil }
                if value != last {
                    last = .some(value)
                    return value
                }
            }
        }

        public mutating func next() async -> Value? { await next(isolation: #isolation) }
    }
}

extension Player {
    /// Returns a sequence of a property's values: its current value, then each changed value.
    ///
    /// ```swift
    /// for await status in player.values(of: \.timeControlStatus) { print(status) }
    /// ```
    ///
    /// The property can be any property of a player: `\.currentItem`, `\.rate`, `\.state.variant`, or `\.state` for the
    /// complete state. A slow reader gets only the newest value, while ``events(bufferingNewest:)`` reports every
    /// change. A property that changes as time passes is checked only when an event occurs. Use ``times(every:)`` to
    /// follow time.
    ///
    /// The sequence ends with the player, and when the player is closed. It reads the property once for each event.
    public func values<Value>(
        of property: any KeyPath<Player, Value> & Sendable
    ) -> PropertyValues<Value> {
        let core = core
        return PropertyValues(changes: { [weak core] in core?.stateChanges.subscribe(.bufferingNewest(1)) ?? .ended }) {
            [weak self] in
            guard let self else { return nil }
            return .some(self[keyPath: property])
        }
    }
}

extension PlayerItem {
    /// Returns a sequence of a property's values: its current value, then each changed value.
    ///
    /// ```swift
    /// for await status in item.values(of: \.status) { print(status, item.error as Any) }
    /// ```
    ///
    /// The property can be any property of an item: `\.error`, `\.duration`, `\.tracks`, `\.loadedTimeRanges`,
    /// `\.currentMediaSelection`. A slow reader gets only the newest value, while ``events(bufferingNewest:)`` reports
    /// every change. You can start before the item is in a player, or while it waits in a queue. Settings are reported
    /// while they have an effect, in a player.
    ///
    /// The sequence ends with the item, and when its player is closed. It reads the property once for each event of the
    /// item.
    public func values<Value>(
        of property: any KeyPath<PlayerItem, Value> & Sendable
    ) -> PropertyValues<Value> {
        PropertyValues(changes: { [weak self] in self?.changes.subscribe() ?? .ended }) { [weak self] in
            guard let self else { return nil }
            return .some(self[keyPath: property])
        }
    }
}

extension AsyncStream<Void> {
    fileprivate static var ended: AsyncStream { AsyncStream { $0.finish() } }
}
