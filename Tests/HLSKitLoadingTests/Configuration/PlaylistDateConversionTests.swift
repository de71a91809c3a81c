import Foundation
import HLSKitCore
import Testing

@Suite struct PlaylistDateConversionTests {
    @Test(
        "B10: playlist dates and Foundation dates convert to each other, to the microsecond",
        arguments: [
            (0.0, PlaylistDate(seconds: 0)), (-0.25, PlaylistDate(seconds: -1, attoseconds: 750_000_000_000_000_000)),
            (1_700_000_000.123456, PlaylistDate(seconds: 1_700_000_000, attoseconds: 123_456_000_000_000_000)),
        ])
    func dates(_ seconds: Double, _ date: PlaylistDate) throws {
        #expect(PlaylistDate(Date(timeIntervalSince1970: seconds)) == date)
        #expect(abs(Date(date).timeIntervalSince1970 - seconds) < 1e-6)
    }

    @Test("B10: a date outside all calendars becomes nil", arguments: [1e15, -1e15, .infinity, .nan])
    func overhang(_ seconds: Double) {
        #expect(PlaylistDate(Date(timeIntervalSince1970: seconds)) == nil)
    }
}
