import Testing

@testable import HLSKitLoading

@Suite("Penalty box")
struct PenaltyBoxTests {
    @Test("a variant stays for its penalty time, and another failure restarts it")
    func expiry() {
        var box = PenaltyBox<Int>()
        box.add(3, at: .seconds(10))
        #expect(box.penalized(at: .milliseconds(69_999)) == [3])
        #expect(box.penalized(at: .seconds(70)).isEmpty)
        box.add(3, at: .seconds(60))
        #expect(box.penalized(at: .seconds(119)) == [3])
        box.remove(3)
        #expect(box.penalized(at: .seconds(61)).isEmpty)
    }
}
