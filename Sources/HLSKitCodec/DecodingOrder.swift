import HLSKitMedia

/// Moves the decoding times of a stream earlier, so that they increase and never exceed the presentation times.
/// Containers other than MP4, and libavformat, require this.
///
/// Presentation times do not change. The required shift is known only after the reordering of frames has been observed.
/// If frames may be reordered and the first one is not delayed, it and the following ones wait.
struct DecodingOrder {
    /// Times are in units of the stream.
    struct Entry {
        var sample: MediaSample
        var presentation: Int64
        var decoding: Int64
        var duration: Int64
    }

    /// The largest number of frames that a stream reorders (ITU-T H.264 A.3.1), plus one to detect it.
    private static let maximumHeldCount = 17
    /// The longest time to hold back, and the largest single shift of decoding times, in seconds.
    private static let longest: Int64 = 2
    private static let longestShift: Int64 = 10

    private let mayReorder: Bool
    private let unitsPerSecond: Int64
    private var held: [Entry]?
    private var shift: Int64 = 0
    private(set) var last: Int64?

    init(mayReorder: Bool, unitsPerSecond: Int64) {
        self.mayReorder = mayReorder
        self.unitsPerSecond = max(1, unitsPerSecond)
        held = mayReorder ? [] : nil
    }

    /// Continues a stream that ends at this decoding time.
    mutating func resume(after time: Int64?) { last = time }

    mutating func add<Failure: Error>(
        _ entry: Entry, write: (Entry) throws(Failure) -> Void
    ) throws(Failure) {
        guard held != nil else { return try write(placed(entry)) }
        held?.append(entry)
        if !isWaiting { try finish(write: write) }
    }

    mutating func finish<Failure: Error>(write: (Entry) throws(Failure) -> Void) throws(Failure) {
        guard let entries = held else { return }
        held = nil
        var decoding: Int64?
        for entry in entries {
            let time = max(entry.decoding, decoding.map { $0 + 1 } ?? entry.decoding)
            decoding = time
            let needed = time - entry.presentation
            if needed <= Self.longestShift * unitsPerSecond { shift = max(shift, needed) }
        }
        for entry in entries { try write(placed(entry)) }
    }

    private var isWaiting: Bool {
        guard let held, let first = held.first, let newest = held.last else { return true }
        // Frames have the usual delay.
        if first.presentation > first.decoding { return false }
        if newest.decoding > first.decoding, held.allSatisfy({ $0.presentation == $0.decoding }) { return false }
        return held.count < Self.maximumHeldCount
            && newest.decoding - first.decoding < Self.longest * unitsPerSecond
    }

    /// Sets the final times. A sample without room before its presentation time is presented later.
    private mutating func placed(_ entry: Entry) -> Entry {
        var entry = entry
        entry.decoding -= shift
        // A sample that is too late only because it follows later ones, as after a splice, says nothing about the rest.
        let excess = entry.decoding - entry.presentation
        if mayReorder, excess > 0, excess <= Self.longestShift * unitsPerSecond {
            shift += excess
            entry.decoding = entry.presentation
        }
        if let last, entry.decoding <= last { entry.decoding = last + 1 }
        entry.presentation = max(entry.presentation, entry.decoding)
        last = entry.decoding
        return entry
    }
}
