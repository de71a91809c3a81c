import Testing

@testable import HLSKitCore

@Suite("when segments need not stand on the disk twice")
struct ThinningPlanTests {
    private func place(_ offset: Int64, in output: String = "output.mp4") -> ThinningPlan.Place {
        ThinningPlan.Place(output: output, offset: offset)
    }

    @Test("a segment is due when two more of its lane were packed, and from where it was begun to where those end")
    func due() {
        var plan = ThinningPlan(batchByteCount: 1)
        plan.notePacked("a", byteCount: 10, lane: 0, from: place(0), to: place(9))
        #expect(plan.takeDue().isEmpty)
        plan.notePacked("x", byteCount: 10, lane: 1, from: place(9), to: place(20))
        plan.notePacked("b", byteCount: 10, lane: 0, from: place(20), to: place(31))
        #expect(plan.takeDue().isEmpty)
        plan.notePacked("c", byteCount: 10, lane: 0, from: place(31), to: place(42))
        #expect(plan.takeDue() == [ThinningPlan.Piece(name: "a", output: "output.mp4", range: 0..<42)])
        #expect(plan.takeDue().isEmpty)
    }

    @Test("it is collected until it is worth waiting for the disk")
    func batch() {
        var plan = ThinningPlan(batchByteCount: 20)
        for (index, name) in ["a", "b", "c", "d"].enumerated() {
            #expect(plan.takeDue().isEmpty)
            let start = Int64(index) * 10
            plan.notePacked(name, byteCount: 10, lane: 0, from: place(start), to: place(start + 10))
        }
        #expect(plan.takeDue().map(\.name) == ["a", "b"])
    }

    @Test("what goes on in another file stays as it is")
    func otherFile() {
        var plan = ThinningPlan(batchByteCount: 1)
        let next = "output.2.mp4"
        plan.notePacked("a", byteCount: 10, lane: 0, from: place(0), to: place(10))
        plan.notePacked("b", byteCount: 10, lane: 0, from: place(10), to: place(3, in: next))
        plan.notePacked("c", byteCount: 10, lane: 0, from: place(3, in: next), to: place(13, in: next))
        #expect(plan.takeDue().isEmpty)
        plan.notePacked("d", byteCount: 10, lane: 0, from: place(13, in: next), to: place(23, in: next))
        #expect(plan.takeDue().isEmpty)
        plan.notePacked("e", byteCount: 10, lane: 0, from: place(23, in: next), to: place(33, in: next))
        #expect(plan.takeDue() == [ThinningPlan.Piece(name: "c", output: next, range: 3..<33)])
    }
}
