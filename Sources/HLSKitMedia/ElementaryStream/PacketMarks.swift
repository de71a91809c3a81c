/// Where packets with timestamps begin in the bytes of an elementary stream that are not yet samples.
struct PacketMarks {
    struct Mark {
        var offset: Int
        var pts: Int64?
        var dts: Int64?
        var isRandomAccess: Bool
    }

    /// In the order of their offsets, each of which is there once. A slice, so that taking from the front costs nothing.
    private(set) var marks: ArraySlice<Mark> = []

    /// Of packets without bytes of their own only the last one with a timestamp is kept.
    mutating func append(_ mark: Mark) {
        if let last = marks.last, last.offset == mark.offset {
            if last.pts != nil && mark.pts == nil { return }
            marks.removeLast()
        }
        marks.append(mark)
    }

    /// The mark of the packet in which the byte at `offset` lies, unless it was taken before; those before it are
    /// removed, as they belong to nothing.
    ///
    /// - Parameter slack: a packet with a timestamp that begins up to this many bytes later is preferred.
    mutating func takeMark(forUnitAt offset: Int, slack: Int = 0) -> Mark? {
        let (own, end) = (index(behind: offset), index(behind: offset + slack))
        guard end > marks.startIndex else { return nil }
        let mark = marks[own..<end].last { $0.pts != nil } ?? marks[..<own].last
        marks = marks[end...]
        return mark
    }

    /// The first mark between the two offsets, the first of which is excluded.
    func first(behind start: Int, before end: Int) -> Mark? {
        marks[index(behind: start)...].first.flatMap { $0.offset < end ? $0 : nil }
    }

    /// The time that a packet tells of the unit that it is a further part of, up to its end: the first one behind `start`
    /// that tells one. The time of a packet in which another unit begins is that unit's.
    ///
    /// - Parameter isLast: no bytes follow those of the unit.
    func timeOfRest(behind start: Int, upTo end: Int, isLast: Bool) -> Mark? {
        var at = index(behind: start)
        while at < marks.endIndex, marks[at].offset < end {
            let mark = marks[at]
            at += 1
            guard mark.pts != nil else { continue }
            return at < marks.endIndex ? marks[at].offset <= end + 3 ? mark : nil : isLast ? mark : nil
        }
        return nil
    }

    /// A packet that nothing belongs to yet begins exactly at `offset`.
    func contains(_ offset: Int) -> Bool { marks[..<index(behind: offset)].last?.offset == offset }

    /// The bytes up to `count` have gone. What began in them begins before the first byte now, not at it; only the last
    /// of these can still be of use.
    mutating func removeBytes(_ count: Int) {
        // Each few bytes that arrive come here, and there may be as many marks as bytes.
        guard count > 0 else { return }
        marks = marks[max(marks.startIndex, index(behind: count) - 1)...]
        for index in marks.indices { marks[index].offset -= count }
    }

    mutating func removeAll() { marks = [] }

    mutating func moveTimes(by distance: Int64) {
        for index in marks.indices {
            marks[index].pts = marks[index].pts.map { $0 &+ distance }
            marks[index].dts = marks[index].dts.map { $0 &+ distance }
        }
    }

    /// Where the marks behind `offset` begin, found by halves.
    private func index(behind offset: Int) -> Int {
        var (low, high) = (marks.startIndex, marks.endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if marks[middle].offset > offset { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
