/// Where packets with timestamps begin in the bytes of an elementary stream that are not yet samples.
struct PacketMarks {
    struct Mark {
        var offset: Int
        var pts: Int64?
        var dts: Int64?
        var isRandomAccess: Bool
    }

    private(set) var marks: [Mark] = []

    mutating func append(_ mark: Mark) { marks.append(mark) }

    /// The mark of the packet in which the byte at `offset` lies, unless it was taken before; those before it are
    /// removed, as they belong to nothing.
    mutating func takeMark(forUnitAt offset: Int) -> Mark? {
        guard let index = marks.lastIndex(where: { $0.offset <= offset }) else { return nil }
        let mark = marks[index]
        marks.removeFirst(index + 1)
        return mark
    }

    /// The first mark between the two offsets, the first of which is excluded.
    func first(behind start: Int, before end: Int) -> Mark? {
        marks.first { $0.offset > start && $0.offset < end }
    }

    /// A packet that nothing belongs to yet begins exactly at `offset`.
    func contains(_ offset: Int) -> Bool { marks.contains { $0.offset == offset } }

    /// The bytes up to `count` have gone.
    mutating func removeBytes(_ count: Int) {
        for index in marks.indices { marks[index].offset = max(0, marks[index].offset - count) }
    }

    mutating func removeAll() { marks = [] }
}
