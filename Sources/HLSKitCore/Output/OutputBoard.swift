import HLSMedia
import Synchronization

/// The outputs of an item, which come and go at any time.
final class OutputBoard: Sendable {
    /// A writer of the item. Those that were there from the start wait for each other's kinds of media.
    struct WriterSlot: Sendable {
        /// Counts the writers of the item.
        let id: Int
        let writer: any MediaWriter
        let isLate: Bool
    }

    private struct State {
        var slots: [WriterSlot] = []
        var lastSlot = 0
        var receivers: [any OutputReceiving] = []
        var pitchAlgorithm = AudioTimePitchAlgorithm.timeDomain
        var moment: (@Sendable () -> OutputMoment)?
        var noteChange: (@Sendable () -> Void)?
        var isOver = false
    }

    private let state = Mutex(State())

    deinit {
        for receiver in receivers {
            receiver.tie.release()
            receiver.end()
        }
    }

    var slots: [WriterSlot] { state.withLock { $0.slots } }
    var receivers: [any OutputReceiving] { state.withLock { $0.receivers } }

    var pitchAlgorithm: AudioTimePitchAlgorithm {
        get { state.withLock { $0.pitchAlgorithm } }
        set { state.withLock { $0.pitchAlgorithm = newValue } }
    }

    // MARK: The item's side

    func add(_ writer: any MediaWriter) {
        state.withLock { state in
            state.lastSlot += 1
            state.slots.append(WriterSlot(id: state.lastSlot, writer: writer, isLate: state.noteChange != nil))
        }
        noteChange()
    }

    func remove(_ writer: any MediaWriter & AnyObject) {
        state.withLock { $0.slots.removeAll { $0.writer as AnyObject === writer } }
        noteChange()
    }

    /// False where the output has an item already.
    func add(_ receiver: any OutputReceiving) -> Bool {
        guard receiver.tie.take(noteChange: { [weak self] in self?.noteChange() }) else { return false }
        let (moment, isOver) = state.withLock { state in
            state.receivers.append(receiver)
            return (state.moment, state.isOver)
        }
        if isOver {
            receiver.tie.end()
        } else if let moment {
            receiver.tie.begin(moment: moment)
        }
        noteChange()
        return true
    }

    /// False where the item does not have the output.
    func remove(_ receiver: any OutputReceiving) -> Bool {
        let isFound = state.withLock { state in
            guard let index = state.receivers.firstIndex(where: { $0 === receiver }) else { return false }
            state.receivers.remove(at: index)
            return true
        }
        guard isFound else { return false }
        receiver.tie.release()
        receiver.end()
        noteChange()
        return true
    }

    private func noteChange() {
        let note = state.withLock { $0.noteChange }
        note?()
    }

    // MARK: The player's side

    /// The item is played from now on. `noteChange` is called by any thread when an output comes, goes or changes its
    /// wishes.
    func open(moment: @escaping @Sendable () -> OutputMoment, noteChange: @escaping @Sendable () -> Void) {
        let receivers = state.withLock { state in
            state.moment = moment
            state.noteChange = noteChange
            state.isOver = false
            return state.receivers
        }
        for receiver in receivers { receiver.tie.begin(moment: moment) }
    }

    /// The item is not played any more.
    func close() {
        state.withLock { $0.noteChange = nil }
        end()
    }

    /// Nothing more comes: the item has failed, or is not played any more.
    func end() {
        let receivers = state.withLock { state in
            state.moment = nil
            state.isOver = true
            return state.receivers
        }
        for receiver in receivers {
            receiver.tie.end()
            receiver.end()
        }
    }

    /// Where one of the outputs takes the channels as they come, there is no limit.
    private func maximumChannelCount(_ receivers: [any OutputReceiving]) -> Int? {
        let takers = receivers.filter { $0.frameTypes.contains(.audio) || $0.sampleTypes.contains(.audio) }
        let counts = takers.map(\.channelCount)
        return counts.contains(nil) ? nil : counts.compactMap(\.self).max()
    }

    /// What the outputs can show.
    var limits: OutputLimits {
        let receivers = receivers
        return OutputLimits(
            display: receivers.compactMap(\.display).max { $0.size.pixelCount < $1.size.pixelCount },
            needsStandardRange: receivers.contains(where: \.needsStandardRange),
            maximumChannelCount: maximumChannelCount(receivers))
    }
}

/// What the outputs of an item can show: the variants that go beyond it are left out.
struct OutputLimits: Sendable, Hashable {
    /// The largest; nil is no limit.
    var display: SelectionContext.Display?
    /// Some output cannot show high dynamic range.
    var needsStandardRange = false
    /// The most channels that an output gives; nil is no limit.
    var maximumChannelCount: Int?
}
