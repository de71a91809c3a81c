import HLSKitMedia

/// Moves the decoding times of one stream of a file so far ahead that they rise, and that nothing is presented before it
/// is decoded: containers other than MP4 know nothing else, and libavformat writes nothing else.
///
/// Presentation times are kept. By how much decoding times have to move is known when the reordering of frames has been
/// seen; where the first frame says that there may be some, and is not delayed itself, it and those behind it wait.
struct DecodingOrder {
    /// Times are in units of the stream.
    struct Entry {
        var sample: MediaSample
        var presentation: Int64
        var decoding: Int64
        var duration: Int64
    }

    /// The most frames that a stream holds back (ITU-T H.264 A.3.1), and one to see it by.
    private static let maximumHeldCount = 17
    /// The most time that is held, in seconds, and by which decoding times are moved in one go.
    private static let longest: Int64 = 2
    private static let longestShift: Int64 = 10

    private let mayReorder: Bool
    private let unitsPerSecond: Int64
    private var held: [Entry]?
    /// Taken off all decoding times.
    private var shift: Int64 = 0
    /// The newest decoding time that was given.
    private(set) var last: Int64?

    /// - Parameter mayReorder: the stream may have frames in another order than that in which they are shown.
    init(mayReorder: Bool, unitsPerSecond: Int64) {
        self.mayReorder = mayReorder
        self.unitsPerSecond = max(1, unitsPerSecond)
        held = mayReorder ? [] : nil
    }

    /// The stream continues from one that ends at this decoding time.
    mutating func goOn(after time: Int64?) { last = time }

    /// Takes the next sample and hands on those that are ready, in their order.
    mutating func add<Failure: Error>(
        _ entry: Entry, write: (Entry) throws(Failure) -> Void
    ) throws(Failure) {
        guard held != nil else { return try write(placed(entry)) }
        held?.append(entry)
        if !isWaiting { try finish(write: write) }
    }

    /// Hands on what has waited.
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
        // Delayed as it should be.
        if first.presentation > first.decoding { return false }
        if newest.decoding > first.decoding, held.allSatisfy({ $0.presentation == $0.decoding }) { return false }
        return held.count < Self.maximumHeldCount
            && newest.decoding - first.decoding < Self.longest * unitsPerSecond
    }

    /// With its final times. A sample for which there is no room before its presentation is presented that much later.
    private mutating func placed(_ entry: Entry) -> Entry {
        var entry = entry
        entry.decoding -= shift
        if let last, entry.decoding <= last { entry.decoding = last + 1 }
        let excess = entry.decoding - entry.presentation
        if mayReorder, excess > 0, excess <= Self.longestShift * unitsPerSecond {
            shift += excess
            entry.decoding = max(entry.presentation, last.map { $0 + 1 } ?? entry.presentation)
        }
        entry.presentation = max(entry.presentation, entry.decoding)
        last = entry.decoding
        return entry
    }
}
