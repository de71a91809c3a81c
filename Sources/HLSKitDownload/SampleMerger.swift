import HLSKitLoading
import HLSKitMedia

/// Puts the samples of several tracks into decoding order, and reports track changes at the same position together.
///
/// A sparse track (subtitles) never makes the others wait.
struct SampleMerger: Sendable {
    enum Input: Sendable {
        /// A change of the track. `timeline` increases with each discontinuity. Its samples begin at `time` or later.
        case track(MediaTrack, timeline: Int, time: Duration)
        /// A sample. `time` is its decoding time.
        case sample(MediaSample, itemTime: Duration, time: Duration)
    }

    enum Output: Sendable {
        /// The tracks from here on, by slot, without those that have not begun.
        case tracks([Int: MediaTrack])
        case sample(MediaSample, slot: Int, itemTime: Duration)
    }

    private struct Slot {
        var queue: [Input] = []
        var head = 0
        var isSparse: Bool
        var isFinished = false
        /// The time before which no more samples arrive, or `nil` before the first input.
        var reached: Duration?
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

    /// Notes that the slot has no more samples before `time`, so that others need not wait for it.
    mutating func advance(_ slot: Int, to time: Duration) {
        guard slots.indices.contains(slot) else { return }
        slots[slot].reached = max(slots[slot].reached ?? time, time)
    }

    mutating func finish(_ slot: Int) {
        guard slots.indices.contains(slot) else { return }
        slots[slot].isFinished = true
    }

    /// Outputs all samples and changes whose order is known.
    mutating func take(_ body: (Output) throws(HLSError) -> Void) throws(HLSError) {
        while true {
            // Until each track has input, the order is known only up to the times that the tracks without input have
            // reached.
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
            // Before a change, output the earlier samples of all slots that have not reached it.
            if let change {
                let after = slots.enumerated().compactMap { index, slot -> (slot: Int, time: Duration)? in
                    guard !slot.isSparse, slot.timeline < change.timeline, case .sample(_, _, let time)? = slot.next
                    else { return nil }
                    return (index, time)
                }
                guard let next = after.min(by: { $0.time < $1.time }) else {
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
