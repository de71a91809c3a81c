/// The positions of packets with timestamps in the bytes of an elementary stream that are not yet samples.
struct PacketMarks {
    struct Mark {
        var offset: Int
        var pts: Int64?
        var dts: Int64?
        var isRandomAccess: Bool
    }

    /// The marks by offset, each offset once. It is a slice so that removing from the front costs nothing.
    private(set) var marks: ArraySlice<Mark> = []

    /// If several packets have no bytes, only the last one with a timestamp is kept.
    mutating func append(_ mark: Mark) {
        if let last = marks.last, last.offset == mark.offset {
            if last.pts != nil && mark.pts == nil { return }
            marks.removeLast()
        }
        marks.append(mark)
    }

    /// Removes and returns the mark of the packet that contains the byte at `offset`, unless it was taken earlier. Also
    /// removes the marks before it because they belong to no unit.
    ///
    /// - Parameter slack: A packet with a timestamp that begins up to this number of bytes later is preferred.
    mutating func takeMark(forUnitAt offset: Int, slack: Int = 0) -> Mark? {
        let (own, end) = (index(after: offset), index(after: offset + slack))
        guard end > marks.startIndex else { return nil }
        let mark = marks[own..<end].last { $0.pts != nil } ?? marks[..<own].last
        marks = marks[end...]
        return mark
    }

    func first(after start: Int, before end: Int) -> Mark? {
        marks[index(after: start)...].first.flatMap { $0.offset < end ? $0 : nil }
    }

    /// The time of a later packet of the same unit, up to the unit's end: the first one after `start` that declares a
    /// time. If another unit begins in the packet, the time belongs to that unit.
    ///
    /// - Parameter isLast: Whether no bytes follow the unit.
    func timeOfRest(after start: Int, upTo end: Int, isLast: Bool) -> Mark? {
        var at = index(after: start)
        while at < marks.endIndex, marks[at].offset < end {
            let mark = marks[at]
            at += 1
            guard mark.pts != nil else { continue }
            return at < marks.endIndex ? marks[at].offset <= end + 3 ? mark : nil : isLast ? mark : nil
        }
        return nil
    }

    func contains(_ offset: Int) -> Bool { marks[..<index(after: offset)].last?.offset == offset }

    /// Removes the bytes up to `count`. Packets that began in them now begin before the first byte. Only the last of
    /// these is still useful.
    mutating func removeBytes(_ count: Int) {
        // This is called for every few bytes that arrive, and there may be as many marks as bytes.
        guard count > 0 else { return }
        marks = marks[max(marks.startIndex, index(after: count) - 1)...]
        for index in marks.indices { marks[index].offset -= count }
    }

    mutating func removeAll() { marks = [] }

    mutating func moveTimes(by distance: Int64) {
        for index in marks.indices {
            marks[index].pts = marks[index].pts.map { $0 &+ distance }
            marks[index].dts = marks[index].dts.map { $0 &+ distance }
        }
    }

    private func index(after offset: Int) -> Int {
        var (low, high) = (marks.startIndex, marks.endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if marks[middle].offset > offset { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
