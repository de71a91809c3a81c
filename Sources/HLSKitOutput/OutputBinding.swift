import HLSKitLoading
import Synchronization

/// The tie between an output and its item: each ``PlayerItemOutput`` has one of its own.
public final class OutputBinding: Sendable {
    private struct State {
        var isTaken = false
        var suppressesPlayerRendering = false
        var noteChange: (@Sendable () -> Void)?
        var clock: (@Sendable () -> OutputClock)?
        var isOver = false
    }

    private let state = Mutex(State())

    /// A binding of an output that belongs to no item yet.
    public init() {}

    /// How times stand now; nil while the item is not played.
    public var clock: OutputClock? {
        let read = state.withLock { $0.clock }
        return read?()
    }

    /// The item failed or is no longer played, and the output still belongs to it. Sequences that an output gives end at
    /// once then.
    package var isOver: Bool { state.withLock { $0.isOver } }

    /// Tells the item that ``LimitedOutput/limits`` have changed.
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

    /// What is sent from now on; nothing if the item is over.
    func subscribe<Element>(to elements: Broadcast<Element>) -> AsyncStream<Element> {
        elements.subscribe(unless: { isOver })
    }

    func subscribe<Element>(to readers: MediaReaders<Element>) -> AsyncStream<Element> {
        readers.subscribe(unless: { isOver })
    }

    // MARK: The item's side

    /// False if the output has an item already. `noteChange` is called when what it wants changes.
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

    /// The item is played from now on.
    func begin(clock: @escaping @Sendable () -> OutputClock) {
        state.withLock { state in
            state.isOver = false
            state.clock = clock
        }
    }

    /// Nothing more comes from the item: it has failed, or is no longer played.
    func end() {
        state.withLock { state in
            state.isOver = true
            state.clock = nil
        }
    }
}
