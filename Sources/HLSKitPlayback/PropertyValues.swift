import HLSKitLoading

/// The values of one property of a player, an item or a looper: first the one that it has, then each that differs from the one
/// before. Only the newest is kept for a slow reader.
///
/// Does not keep the player or the item alive. Ends with it, when its player is closed, and with the reading task. Each
/// iteration begins with the value of that moment.
public struct PropertyValues<Value: Equatable & Sendable>: AsyncSequence, Sendable {
    /// An element for each moment at which the value may differ.
    let changes: @Sendable () -> AsyncStream<Void>
    /// nil once there is nothing to read from.
    let read: @Sendable () -> Value?

    public func makeAsyncIterator() -> Iterator { Iterator(changes: changes().makeAsyncIterator(), read: read) }

    /// Iterates over the values.
    public struct Iterator: AsyncIteratorProtocol {
        var changes: AsyncStream<Void>.Iterator
        let read: @Sendable () -> Value?
        var last: Value?

        /// Waits for a value that differs from the last one; nil at the end.
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
    /// The values of a property: the one it has now, and then each that differs from the one before.
    ///
    /// ```swift
    /// for await status in player.values(of: \.timeControlStatus) { print(status) }
    /// ```
    ///
    /// For every property of a player: `\.currentItem`, `\.rate`, `\.state.variant`, or `\.state` for all of it at once.
    /// A slow reader gets the newest value only; ``events(bufferingNewest:)`` has all that happens. A property that changes as time passes is
    /// looked at when something else happens: ``times(every:)`` follows time.
    ///
    /// Ends with the player and when it is closed. Costs a look at the property with each thing that happens.
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
    /// The values of a property: the one it has now, and then each that differs from the one before.
    ///
    /// ```swift
    /// for await status in item.values(of: \.status) { print(status, item.error as Any) }
    /// ```
    ///
    /// For every property of an item: `\.error`, `\.duration`, `\.tracks`, `\.loadedTimeRanges`, `\.currentMediaSelection`.
    /// A slow reader gets the newest value only; ``events(bufferingNewest:)`` has all that happens. May begin before the item is in a player, and
    /// while it is behind others in a queue. Settings are reported while they have an effect, in a player.
    ///
    /// Ends with the item, and when the player that has it is closed. Costs a look at the property with each thing that
    /// happens to the item.
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
    /// A stream without an element.
    fileprivate static var ended: AsyncStream { AsyncStream { $0.finish() } }
}
