import HLSKitLoading
import HLSKitPlaylist
import TestSupport
import Testing

@testable import HLSKitSelection

@Suite("Catching up with a cached playlist")
struct TuneInTests {
    /// Returns a playlist with segments 10 to 17 of 4 s each and parts of 1 s of the next segment.
    private static func list(
        parts: Int = 1, first: Int = 10, control: String = "CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=3"
    ) throws -> MediaPlaylist {
        var text = PlaylistText.numbered(first, count: 8)
        text.header = ["#EXT-X-SERVER-CONTROL:" + control, "#EXT-X-PART-INF:PART-TARGET=1"]
        let lines = (0..<parts).map { "#EXT-X-PART:DURATION=1,URI=\"18.\($0).mp4\"\n" }
        return try MediaPlaylist(parsing: text.text + lines.joined(), url: "https://host/live.m3u8")
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var age: Duration?
        var parts = 1
        var awaited: PartPosition?
    }

    static let rows: [Row] = [
        Row(testDescription: "no age", age: nil),
        Row(testDescription: "new", age: .zero),
        Row(testDescription: "younger than a part", age: .milliseconds(999)),
        Row(testDescription: "a part", age: .seconds(1), awaited: PartPosition(sequence: 18, part: 1)),
        Row(testDescription: "two parts", age: .seconds(2), awaited: PartPosition(sequence: 18, part: 2)),
        Row(testDescription: "to the end of the segment", age: .seconds(3), awaited: PartPosition(sequence: 18)),
        Row(testDescription: "into the next", age: .seconds(4), awaited: PartPosition(sequence: 19, part: 0)),
        Row(
            testDescription: "a segment, from its beginning", age: .seconds(4), parts: 0,
            awaited: PartPosition(sequence: 18)),
        Row(testDescription: "half a minute", age: .seconds(30), awaited: PartPosition(sequence: 25, part: 2)),
        Row(testDescription: "more than a day", age: .seconds(86_401)),
    ]

    @Test("C06: segments newer than the response's age are awaited", arguments: rows)
    func ages(_ row: Row) throws {
        var tuneIn = TuneIn()
        let awaited = tuneIn.await(after: try Self.list(parts: row.parts), age: row.age, isDirected: false)
        #expect(awaited == row.awaited)
        #expect(tuneIn.awaited == row.awaited)
    }

    @Test("C06: they are awaited once, unless requested by number, and only with blocking reloads")
    func once() throws {
        var tuneIn = TuneIn()
        let list = try Self.list()
        #expect(tuneIn.await(after: list, age: .seconds(4), isDirected: false) != nil)
        #expect(tuneIn.await(after: list, age: .seconds(4), isDirected: true) == nil)
        #expect(tuneIn.awaited == nil)
        #expect(tuneIn.await(after: list, age: .seconds(4), isDirected: false) == nil)
        var directed = TuneIn()
        #expect(directed.await(after: list, age: .seconds(4), isDirected: true) == nil)
        var failed = TuneIn()
        _ = failed.await(after: list, age: .seconds(4), isDirected: false)
        #expect(failed.giveUp() == true)
        #expect(failed.awaited == nil)
        #expect(failed.giveUp() == false)
        #expect(failed.await(after: list, age: .seconds(4), isDirected: false) == nil)
        var ordinary = TuneIn()
        let plain = try Self.list(control: "PART-HOLD-BACK=3")
        #expect(ordinary.await(after: plain, age: .seconds(4), isDirected: false) == nil)
        var last = TuneIn()
        #expect(last.await(after: try Self.list(first: .max - 10), age: .seconds(40), isDirected: false) == nil)
    }

    @Test("Age is read as seconds, and ignored if invalid")
    func field() {
        func age(_ value: String) -> Duration? {
            TransportResponse(status: 200, urlString: "u", fields: [TransportField(name: "age", value: value)]).age
        }
        #expect(age("12") == .seconds(12))
        #expect(age("-1") == nil && age("1.5") == nil && age("99999999999999999999") == nil && age("") == nil)
    }
}
