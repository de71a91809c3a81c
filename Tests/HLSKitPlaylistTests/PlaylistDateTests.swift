import FoundationEssentials
import HLSKitPlaylist
import Testing

@Suite struct PlaylistDateTests {
    @Test(
        "a stored date decodes to a date, whatever its numbers",
        arguments: [
            (#"{"seconds":1,"attoseconds":500000000000000000}"#, "1970-01-01T00:00:01.500Z"),
            (#"{"seconds":1,"attoseconds":-500000000000000000}"#, "1970-01-01T00:00:00.500Z"),
            (#"{"seconds":0,"attoseconds":9223372036854775807}"#, "1970-01-01T00:00:09.223372036854775807Z"),
        ])
    func decoding(text: String, expected: String) throws {
        let date = try JSONDecoder().decode(PlaylistDate.self, from: Data(text.utf8))
        #expect(date.description == expected)
        #expect((0..<1_000_000_000_000_000_000).contains(date.attoseconds))
        #expect(try JSONDecoder().decode(PlaylistDate.self, from: JSONEncoder().encode(date)) == date)
    }

    @Test("the difference of stored dates is a duration, even for damaged ones")
    func differences() throws {
        let text =
            #"[{"seconds":0,"attoseconds":-9223372036854775808},{"seconds":0,"attoseconds":9223372036854775807}]"#
        let dates = try JSONDecoder().decode([PlaylistDate].self, from: Data(text.utf8))
        #expect(dates[1] - dates[0] == Duration(secondsComponent: 18, attosecondsComponent: 446_744_073_709_551_615))
    }

    @Test(
        "every date has a text",
        arguments: [
            (Int64(-1), "1969-12-31T23:59:59.000Z"), (-86_400, "1969-12-31T00:00:00.000Z"),
            (-86_401, "1969-12-30T23:59:59.000Z"), (86_400, "1970-01-02T00:00:00.000Z"),
        ])
    func text(seconds: Int64, expected: String) {
        #expect(PlaylistDate(seconds: seconds).description == expected)
    }

    @Test("the first and the last date have a text", arguments: [Int64.min, .max])
    func ends(seconds: Int64) {
        #expect(PlaylistDate(seconds: seconds).description.hasSuffix("Z"))
    }
}
