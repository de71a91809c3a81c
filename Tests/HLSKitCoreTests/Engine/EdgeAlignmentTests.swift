import Testing

@testable import HLSKitCore

@Suite("alignment at the live edge")
struct EdgeAlignmentTests {
    private static let part = Duration.milliseconds(500)

    @Test("the start is a part nearer where two parts are left")
    func lead() {
        #expect(EdgeAlignment.lead(offset: .milliseconds(1500), part: Self.part) == Self.part)
        #expect(EdgeAlignment.lead(offset: .seconds(1), part: Self.part) == Self.part)
        #expect(EdgeAlignment.lead(offset: .milliseconds(999), part: Self.part) == .zero)
    }

    @Test("M05: playing waits for the next list")
    func waits() {
        var alignment = EdgeAlignment()
        #expect(!alignment.isWaiting)
        alignment.begin(lead: Self.part)
        #expect(alignment.isWaiting)
        alignment.end()
        #expect(!alignment.isWaiting)
        alignment.begin(lead: .zero)
        #expect(!alignment.isWaiting)
    }
}
