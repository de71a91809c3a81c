import HLSKitSelection
import Testing

@testable import HLSKitEngine

@Suite("Connections for partial segments")
struct PartConnectionsTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// The load times of parts of 0.5 s, in milliseconds.
        var waits: [Int]
        var isShared = true
        var areOwn: Bool
    }

    static let cases = [
        Case(testDescription: "nothing has come", waits: [], areOwn: false),
        Case(testDescription: "parts come in time", waits: Array(repeating: 120, count: 40), areOwn: false),
        Case(testDescription: "half of the time is in time", waits: Array(repeating: 250, count: 40), areOwn: false),
        Case(testDescription: "two are late", waits: [400, 100, 400, 100], areOwn: false),
        Case(testDescription: "three are late", waits: [400, 100, 400, 100, 260], areOwn: true),
        Case(
            testDescription: "three are late, of more than eight",
            waits: [400, 100, 100, 100, 400, 100, 100, 100, 400], areOwn: false),
        Case(testDescription: "three of eight", waits: [400, 100, 100, 400, 100, 100, 100, 400], areOwn: true),
        Case(
            testDescription: "each has a connection already", waits: Array(repeating: 400, count: 40), isShared: false,
            areOwn: false),
    ]

    private static func note(_ milliseconds: Int, isShared: Bool = true, to connections: inout PartConnections) -> Bool
    {
        connections.note(
            .init(isShared: isShared, wait: .milliseconds(milliseconds), duration: .milliseconds(500)))
    }

    @Test("M05: a separate connection is used if three of the last eight partial segments were late", arguments: cases)
    func choice(_ test: Case) {
        var connections = PartConnections()
        var changes = 0
        for wait in test.waits where Self.note(wait, isShared: test.isShared, to: &connections) { changes += 1 }
        #expect(connections.areOwn == test.areOwn)
        #expect(changes == (test.areOwn ? 1 : 0), "told once")
    }

    @Test("M05: a server that refused a second connection is not asked for one again")
    func refused() {
        var connections = PartConnections()
        connections.noteRefusal()
        for _ in 0..<3 { _ = Self.note(400, to: &connections) }
        #expect(connections.areOwn, "nothing of it was refused before")
        connections.noteRefusal()
        #expect(!connections.areOwn)
        for _ in 0..<20 { #expect(!Self.note(400, to: &connections)) }
        #expect(!connections.areOwn)
    }
}

@Suite("Low-latency notices")
struct LowLatencyNoticeTests {
    @Test("the reason for missing low latency is reported once, and again after it has worked")
    func once() {
        var notice = ItemState.LowLatencyNotice()
        #expect(notice.news(.ordinary) == nil)
        #expect(notice.news(.declined(.noPartHoldBack)) == .noPartHoldBack)
        #expect(notice.news(.declined(.holdsNoRequests)) == nil)
        #expect(notice.news(.ordinary) == nil)
        #expect(notice.news(.declined(.holdsNoRequests)) == nil)
        #expect(notice.news(.lowLatency) == nil)
        #expect(notice.news(.declined(.doesNotHold)) == .doesNotHold)
    }
}
