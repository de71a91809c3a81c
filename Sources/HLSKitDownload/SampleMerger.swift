import HLSKitLoading
import HLSKitMedia

/// Puts the samples of several tracks into one order, by their decoding times, and tells of all tracks that change at one
/// place in the stream together.
///
/// A track that is sparse (subtitles) never makes the others wait.
struct SampleMerger: Sendable {
    enum Input: Sendable {
        /// From here on the track is this: `timeline` counts up with each discontinuity, and nothing of the track that
        /// belongs here is before `time`.
        case track(MediaTrack, timeline: Int, time: Duration)
        /// `time` is its decoding time.
        case sample(MediaSample, itemTime: Duration, time: Duration)
    }

    enum Output: Sendable {
        /// The tracks from here on, by their slots; those that have not begun are left out.
        case tracks([Int: MediaTrack])
        case sample(MediaSample, slot: Int, itemTime: Duration)
    }

    private struct Slot {
        var queue: [Input] = []
        var head = 0
        var isSparse: Bool
        var isFinished = false
        /// Nothing of before this time comes any more; nil until something has come.
        var reached: Duration?
        /// The timeline that its samples are of now.
        var timeline = -1
        var track: MediaTrack?

        var next: Input? { head < queue.count ? queue[head] : nil }

        mutating func removeFirst() {
            head += 1
            if head == queue.count {
                queue.removeAll(keepingCapacity: true)
                head = 0
            } else if head > 4096 {
                queue.removeFirst(head)
                head = 0
            }
        }
    }

    private var slots: [Slot] = []

    mutating func addSlot(isSparse: Bool) -> Int {
        slots.append(Slot(isSparse: isSparse))
        return slots.count - 1
    }

    mutating func add(_ input: Input, to slot: Int) {
        guard slots.indices.contains(slot) else { return }
        slots[slot].queue.append(input)
    }

    /// Nothing of before `time` comes of the slot any more, so that others need not wait for it.
    mutating func advance(_ slot: Int, to time: Duration) {
        guard slots.indices.contains(slot) else { return }
        slots[slot].reached = max(slots[slot].reached ?? time, time)
    }

    /// Nothing more comes of the slot.
    mutating func finish(_ slot: Int) {
        guard slots.indices.contains(slot) else { return }
        slots[slot].isFinished = true
    }

    /// What can be written by now.
    mutating func take(_ body: (Output) throws(HLSError) -> Void) throws(HLSError) {
        while true {
            // Until each track has something, what comes first is known only up to where those that have nothing are.
            let silent = slots.filter { $0.next == nil && !$0.isFinished && !$0.isSparse }
            func isKnown(upTo time: Duration) -> Bool {
                silent.allSatisfy { slot in slot.reached.map { time < $0 } ?? false }
            }
            var first: (slot: Int, time: Duration)?
            var change: (timeline: Int, time: Duration)?
            for (index, slot) in slots.enumerated() {
                switch slot.next {
                case .sample(_, _, let time)?:
                    if first.map({ time < $0.time }) ?? true { first = (index, time) }
                case .track(_, let timeline, let time)?:
                    change = (min(change?.timeline ?? timeline, timeline), min(change?.time ?? time, time))
                case nil: break
                }
            }
            // A change waits until the samples before it have gone: those of slots that are not as far.
            if let change {
                let behind = slots.enumerated().compactMap { index, slot -> (slot: Int, time: Duration)? in
                    guard !slot.isSparse, slot.timeline < change.timeline, case .sample(_, _, let time)? = slot.next
                    else { return nil }
                    return (index, time)
                }
                guard let next = behind.min(by: { $0.time < $1.time }) else {
                    guard isKnown(upTo: change.time) else { return }
                    try begin(change.timeline, body)
                    continue
                }
                guard isKnown(upTo: next.time) else { return }
                try pop(next.slot, body)
                continue
            }
            guard let first, isKnown(upTo: first.time) else { return }
            try pop(first.slot, body)
        }
    }

    private mutating func pop(_ slot: Int, _ body: (Output) throws(HLSError) -> Void) throws(HLSError) {
        guard case .sample(let sample, let itemTime, _)? = slots[slot].next else { return }
        slots[slot].removeFirst()
        try body(.sample(sample, slot: slot, itemTime: itemTime))
    }

    /// All slots that stand before this timeline go on to it.
    private mutating func begin(_ timeline: Int, _ body: (Output) throws(HLSError) -> Void) throws(HLSError) {
        for index in slots.indices {
            while case .track(let track, timeline, _)? = slots[index].next {
                slots[index].track = track
                slots[index].timeline = timeline
                slots[index].removeFirst()
            }
        }
        var tracks: [Int: MediaTrack] = [:]
        for (index, slot) in slots.enumerated() { tracks[index] = slot.track }
        try body(.tracks(tracks))
    }
}
