/// Where packets with timestamps begin in the bytes of an elementary stream that are not yet samples.
struct PacketMarks {
    struct Mark {
        var offset: Int
        var pts: Int64?
        var dts: Int64?
        var isRandomAccess: Bool
    }

    private(set) var marks: [Mark] = []

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
    /// - Parameter slack: a packet with a timestamp that begins up to so many bytes later is preferred.
    mutating func takeMark(forUnitAt offset: Int, slack: Int = 0) -> Mark? {
        guard let last = marks.lastIndex(where: { $0.offset <= offset + slack }) else { return nil }
        let later = marks[...last].last { $0.offset > offset && $0.pts != nil }
        let mark = later ?? marks[...last].last { $0.offset <= offset }
        marks.removeFirst(last + 1)
        return mark
    }

    /// The first mark between the two offsets, the first of which is excluded.
    func first(behind start: Int, before end: Int) -> Mark? {
        marks.first { $0.offset > start && $0.offset < end }
    }

    /// A packet that nothing belongs to yet begins exactly at `offset`.
    func contains(_ offset: Int) -> Bool { marks.contains { $0.offset == offset } }

    /// The bytes up to `count` have gone. What began in them begins before the first byte now, not at it; only the last
    /// of these can still be of use.
    mutating func removeBytes(_ count: Int) {
        for index in marks.indices { marks[index].offset -= count }
        if let last = marks.lastIndex(where: { $0.offset <= 0 }) { marks.removeFirst(last) }
    }

    mutating func removeAll() { marks = [] }
}
