import HLSKitLoading
import Testing

@testable import HLSKitEngine

/// The limits are 30 s and 1000 bytes, of which 100 bytes may wait unread.
@Suite("Reading response bodies")
struct BodyReadingTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var facts: BodyReading.Facts
        var preference: Duration?
        var stops = false
        var holdsBack = false
        var resumes = false
    }

    static let cases = [
        Case(testDescription: "nothing is loaded", facts: .init(), resumes: true),
        Case(testDescription: "as much media as is wanted", facts: .init(ahead: .seconds(30)), resumes: true),
        Case(testDescription: "more than that", facts: .init(ahead: .seconds(31))),
        Case(testDescription: "twice as much", facts: .init(ahead: .seconds(60))),
        Case(testDescription: "more than twice as much", facts: .init(ahead: .seconds(61)), stops: true),
        Case(testDescription: "the program wants more", facts: .init(ahead: .seconds(61)), preference: .seconds(40)),
        Case(testDescription: "bytes enough", facts: .init(byteCount: 1000), resumes: true),
        Case(testDescription: "twice the bytes", facts: .init(byteCount: 2000)),
        Case(testDescription: "more bytes than that", facts: .init(byteCount: 2001), stops: true),
        Case(
            testDescription: "other players leave half of what is here",
            facts: .init(ahead: .seconds(12), limit: .seconds(6)), stops: true),
        Case(
            testDescription: "other players leave less than twice as much",
            facts: .init(ahead: .seconds(12), limit: .seconds(20))),
        Case(
            testDescription: "other players leave twice as much",
            facts: .init(ahead: .seconds(12), limit: .seconds(24)), resumes: true),
        Case(
            testDescription: "too much waits before its turn", facts: .init(waitingByteCount: 101, index: 1),
            holdsBack: true),
        Case(testDescription: "its turn has come", facts: .init(waitingByteCount: 101), resumes: true),
        Case(testDescription: "a good deal waits", facts: .init(waitingByteCount: 51, index: 1)),
        Case(testDescription: "little waits", facts: .init(waitingByteCount: 50, index: 1), resumes: true),
    ]

    @Test("a response body is read as long as the buffer has room", arguments: cases)
    func decide(_ test: Case) {
        var buffering = BufferingConfiguration()
        buffering.forwardDuration = .seconds(30)
        buffering.maxBufferBytes = 1000
        let reading = BodyReading(buffering: buffering, maximumWaitingByteCount: 100)
        #expect(reading.stops(test.facts, preference: test.preference) == test.stops)
        #expect(reading.holdsBack(test.facts) == test.holdsBack)
        #expect(reading.resumes(test.facts) == test.resumes)
    }
}
