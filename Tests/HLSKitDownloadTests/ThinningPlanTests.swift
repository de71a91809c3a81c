import Testing

@testable import HLSKitDownload

@Suite("Plan for thinning segments")
struct ThinningPlanTests {
    private func place(_ offset: Int64, in output: String = "output.mp4") -> ThinningPlan.Place {
        ThinningPlan.Place(output: output, offset: offset)
    }

    private func plan(_ batch: Int = 1, busy: Int = .max, neededCount: Int = 1) -> ThinningPlan {
        ThinningPlan(ThinningPlan.Limits(batchByteCount: batch, busyByteCount: busy), neededCount: neededCount)
    }

    @Test("a segment is due when the next one of its lane was packed, with all bytes in between")
    func due() {
        var plan = plan()
        plan.notePacked("a", byteCount: 10, lane: 0, from: place(0), to: place(9))
        plan.notePacked("x", byteCount: 10, lane: 1, from: place(9), to: place(20))
        #expect(plan.takeDue(isIdle: true).isEmpty)
        plan.notePacked("b", byteCount: 10, lane: 0, from: place(20), to: place(31))
        #expect(plan.takeDue(isIdle: true) == [ThinningPlan.Piece(name: "a", output: "output.mp4", range: 0..<31)])
        #expect(plan.takeDue(isIdle: true).isEmpty)
    }

    @Test("for large segments a limited range of the following bytes is used")
    func tail() {
        for (byteCount, tail) in [(2 << 20, 1 << 20), (16 << 20, 4 << 20)] as [(Int, Int64)] {
            var plan = plan()
            let size = Int64(byteCount)
            plan.notePacked("a", byteCount: byteCount, lane: 0, from: place(5), to: place(5 + size))
            plan.notePacked("b", byteCount: byteCount, lane: 0, from: place(5 + size), to: place(5 + 9 * size))
            #expect(plan.takeDue(isIdle: true).map(\.range) == [5..<(5 + size + tail)])
        }
    }

    @Test("if the file is written in long pieces, more segments must follow")
    func longPieces() {
        var plan = plan(neededCount: 3)
        for index in 0..<3 {
            let start = Int64(index) * 10
            plan.notePacked("\(index)", byteCount: 10, lane: 0, from: place(start), to: place(start + 10))
            #expect(plan.takeDue(isIdle: true).isEmpty)
        }
        plan.notePacked("3", byteCount: 10, lane: 0, from: place(30), to: place(40))
        #expect(plan.takeDue(isIdle: true).map(\.range) == [0..<40])
    }

    @Test("pieces are collected until a sync is worthwhile, and longer while busy")
    func batch() {
        var plan = plan(20, busy: 40)
        for (index, name) in ["a", "b", "c"].enumerated() {
            #expect(plan.takeDue(isIdle: true).isEmpty)
            let start = Int64(index) * 10
            plan.notePacked(name, byteCount: 10, lane: 0, from: place(start), to: place(start + 10))
        }
        #expect(plan.takeDue(isIdle: false).isEmpty)
        #expect(plan.takeDue(isIdle: true).map(\.name) == ["a", "b"])
        for (index, name) in ["d", "e", "f"].enumerated() {
            let start = Int64(index) * 10 + 30
            plan.notePacked(name, byteCount: 10, lane: 0, from: place(start), to: place(start + 10))
            #expect(plan.takeDue(isIdle: false).isEmpty)
        }
        plan.notePacked("g", byteCount: 10, lane: 0, from: place(60), to: place(70))
        #expect(plan.takeDue(isIdle: false).map(\.name) == ["c", "d", "e", "f"])
    }

    @Test("a segment that continues in another file is not thinned")
    func otherFile() {
        var plan = plan()
        let next = "output.2.mp4"
        plan.notePacked("a", byteCount: 10, lane: 0, from: place(0), to: place(10))
        plan.notePacked("b", byteCount: 10, lane: 0, from: place(10), to: place(3, in: next))
        #expect(plan.takeDue(isIdle: true).isEmpty)
        plan.notePacked("c", byteCount: 10, lane: 0, from: place(3, in: next), to: place(13, in: next))
        #expect(plan.takeDue(isIdle: true).isEmpty)
        plan.notePacked("d", byteCount: 10, lane: 0, from: place(13, in: next), to: place(23, in: next))
        #expect(plan.takeDue(isIdle: true) == [ThinningPlan.Piece(name: "c", output: next, range: 3..<23)])
    }
}
