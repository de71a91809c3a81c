import Testing

@testable import HLSKitMedia

@Suite struct PacketMarksTests {
    private func makeMarks(_ offsets: [Int]) -> PacketMarks {
        var marks = PacketMarks()
        for offset in offsets {
            marks.append(.init(offset: offset, pts: Int64(offset), dts: nil, isRandomAccess: false))
        }
        return marks
    }

    @Test("a unit has the mark of its packet, or of one that begins a little later", arguments: -1...45)
    func taking(offset: Int) {
        for slack in [0, 3] {
            var marks = makeMarks([0, 10, 12, 40])
            let later = [0, 10, 12, 40].last { $0 > offset && $0 <= offset + slack }
            let expected = later ?? [0, 10, 12, 40].last { $0 <= offset }
            #expect(marks.takeMark(forUnitAt: offset, slack: slack)?.offset == expected)
            #expect(marks.marks.map(\.offset) == [0, 10, 12, 40].filter { $0 > offset + slack })
            #expect(marks.first(after: offset, before: 40)?.offset == marks.marks.first { $0.offset < 40 }?.offset)
        }
    }

    @Test("removing bytes removes the earlier marks, except the last one", arguments: 0...45)
    func removing(count: Int) {
        var marks = makeMarks([0, 10, 12, 40])
        marks.removeBytes(count)
        let last = [0, 10, 12, 40].last { $0 <= count } ?? 0
        let kept = [0, 10, 12, 40].filter { $0 >= last }
        #expect(marks.marks.map(\.offset) == kept.map { $0 - count })
        for offset in -5...40 { #expect(marks.contains(offset) == marks.marks.contains { $0.offset == offset }) }
    }

    @Test("the cost per mark does not grow with the number of marks", .timeLimit(.minutes(10)))
    func manyMarks() {
        let count = 200_000
        var marks = PacketMarks()
        for offset in 0..<count {
            marks.append(.init(offset: offset, pts: Int64(offset), dts: nil, isRandomAccess: false))
            marks.removeBytes(0)
        }
        for offset in stride(from: 9, to: count, by: 10) {
            #expect(marks.first(after: count - 2, before: count)?.offset == count - 1)
            #expect(marks.takeMark(forUnitAt: offset - 1)?.pts == Int64(offset - 1))
        }
        #expect(marks.marks.map(\.offset) == [count - 1])
    }
}
