import Testing

@testable import HLSKitEngine

@Suite("Reported missing media")
struct KnownHolesTests {
    private static func hole(_ start: Int, _ end: Int) -> Range<Duration> {
        .milliseconds(start)..<(.milliseconds(end))
    }

    @Test("F19: missing media of at least 0.1 s is reported once, also if another track lacks it")
    func news() {
        var holes = KnownHoles()
        #expect(!holes.isNews(Self.hole(1000, 1099)))
        #expect(holes.isNews(Self.hole(1000, 1100)))
        holes.note(Self.hole(1000, 1300))
        #expect(!holes.isNews(Self.hole(1000, 1300)))
        #expect(!holes.isNews(Self.hole(900, 1100)))
        #expect(holes.isNews(Self.hole(1300, 1500)), "the next one")
    }

    @Test("F19: only the last ranges are remembered, whatever their number")
    func many() {
        var holes = KnownHoles()
        for index in 0..<1000 { holes.note(Self.hole(index * 1000, index * 1000 + 500)) }
        #expect(!holes.isNews(Self.hole(999_000, 999_500)))
        #expect(holes.isNews(Self.hole(0, 500)))
    }
}
