import HLSKitLoading
import Synchronization

/// The connection between an output and its item.
///
/// Each ``PlayerItemOutput`` has its own.
public final class OutputBinding: Sendable {
    private struct State {
        var isTaken = false
        var suppressesPlayerRendering = false
        var noteChange: (@Sendable () -> Void)?
        var clock: (@Sendable () -> OutputClock)?
        var isOver = false
    }

    private let state = Mutex(State())

    /// Creates a binding for an output that has no item yet.
    public init() {}

    /// The current relation of item time to host time, or `nil` while the item is not played.
    public var clock: OutputClock? {
        let read = state.withLock { $0.clock }
        return read?()
    }

    /// Whether the item has failed or is no longer played while the output belongs to it. New sequences of the output
    /// then end at once.
    package var isOver: Bool { state.withLock { $0.isOver } }

    /// Notifies the item that ``LimitedOutput/limits`` have changed.
    public func noteChange() {
        let note = state.withLock { $0.noteChange }
        note?()
    }

    var suppressesPlayerRendering: Bool {
        get { state.withLock { $0.suppressesPlayerRendering } }
        set {
            state.withLock { $0.suppressesPlayerRendering = newValue }
            noteChange()
        }
    }

    func subscribe<Element>(to elements: Broadcast<Element>) -> AsyncStream<Element> {
        elements.subscribe(unless: { isOver })
    }

    func subscribe<Element>(to readers: MediaReaders<Element>) -> AsyncStream<Element> {
        readers.subscribe(unless: { isOver })
    }

    // MARK: The item's side

    /// Binds the output to an item. Returns `false` if it already has one. Calls `noteChange` when its needs change.
    func take(noteChange: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard !state.isTaken else { return false }
            state.isTaken = true
            state.isOver = false
            state.noteChange = noteChange
            return true
        }
    }

    func release() {
        state.withLock { state in
            state.isTaken = false
            state.isOver = false
            state.noteChange = nil
            state.clock = nil
        }
    }

    func begin(clock: @escaping @Sendable () -> OutputClock) {
        state.withLock { state in
            state.isOver = false
            state.clock = clock
        }
    }

    func end() {
        state.withLock { state in
            state.isOver = true
            state.clock = nil
        }
    }
}
