import HLSKitPlaylist
import HLSKitSelection
import TestSupport
import Testing

@Suite("Matching segments across reloads")
struct SegmentHistoryTests {
    /// A playlist of 4 s segments. `number` is the first sequence number, and `segment` is its position in the run.
    struct List: Sendable {
        var number: Int
        var count: Int
        var segment: Int?
        var prefix = "s"
        /// Whether files are named by their position in the run instead of their sequence number.
        var namesBySegment = false
        /// The start date of the run in seconds, or `nil` for a playlist without dates.
        var began: Int?
        var discontinuitySequence: Int?

        var text: PlaylistText {
            var text = PlaylistText(mediaSequence: number, discontinuitySequence: discontinuitySequence)
            for index in 0..<count {
                let place = (segment ?? number) + index
                var tags: [String] = []
                if let began {
                    let time = began + 4 * place
                    let clock = [time / 3600, time / 60 % 60, time % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
                    tags = ["#EXT-X-PROGRAM-DATE-TIME:2026-01-01T\(clock.joined(separator: ":"))Z"]
                }
                let name = namesBySegment ? place : number + index
                text.segments.append(.init("\(prefix)\(name).ts", tags: tags))
            }
            return text
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var lists: [List]
        /// The updates after the first playlist.
        var updates: [PlaylistTracker.Update]
    }

    private static func token(_ number: Int, _ count: Int, _ token: String, dated: Bool = false) -> List {
        List(number: number, count: count, prefix: "https://\(token).example/\(token)/s", began: dated ? 0 : nil)
    }

    private static let edges: [Case] = [
        Case(
            testDescription: "edges out of step, a token in the path",
            lists: [token(100, 10, "a"), token(98, 10, "b"), token(97, 10, "c"), token(101, 10, "d")],
            updates: [.older, .older, .changed]),
        Case(
            testDescription: "edges out of step, a token in the path, dates",
            lists: [
                token(100, 10, "a", dated: true), token(97, 10, "b", dated: true), token(101, 10, "c", dated: true),
            ], updates: [.older, .changed]),
        Case(
            testDescription: "edges out of step, a token in each name",
            lists: [
                List(number: 100, count: 10, prefix: "ax"), List(number: 100, count: 10, prefix: "bx"),
                List(number: 98, count: 10, prefix: "cx"), List(number: 99, count: 10, prefix: "dx"),
                List(number: 101, count: 10, prefix: "ex"),
            ], updates: [.unchanged, .older, .older, .changed]),
        Case(
            testDescription: "an edge that is behind the first window, dates",
            lists: [token(100, 4, "a", dated: true), token(95, 4, "b", dated: true), token(101, 4, "c", dated: true)],
            updates: [.older, .changed]),
        Case(
            testDescription: "after a restart an edge still has the old list",
            lists: [
                List(number: 100, count: 4), List(number: 0, count: 2, prefix: "n"), List(number: 100, count: 4),
                List(number: 1, count: 3, prefix: "n"),
            ], updates: [.restarted, .older, .changed]),
        Case(
            testDescription: "after a restart an edge still has the old list, the same names, dates",
            lists: [
                List(number: 100, count: 4, began: 0), List(number: 0, count: 2, began: 600),
                List(number: 100, count: 4, began: 0), List(number: 1, count: 2, began: 600),
            ], updates: [.restarted, .older, .changed]),
    ]

    private static let restarts: [Case] = [
        Case(
            testDescription: "a young stream begins anew, dates tell",
            lists: [List(number: 0, count: 20, began: 0), List(number: 0, count: 2, prefix: "n", began: 90)],
            updates: [.restarted]),
        Case(
            testDescription: "it was not looked at until the new run was longer than the old, dates tell",
            lists: [List(number: 0, count: 5, began: 0), List(number: 0, count: 8, prefix: "n", began: 90)],
            updates: [.restarted]),
        Case(
            testDescription: "the same names again, dates tell",
            lists: [List(number: 80, count: 8, began: 0), List(number: 0, count: 1, began: 500)],
            updates: [.restarted]),
        Case(
            testDescription: "the same names again in a list that keeps all, dates tell",
            lists: [List(number: 0, count: 50, began: 0), List(number: 0, count: 1, began: 300)],
            updates: [.restarted]),
        Case(
            testDescription: "a young stream begins anew under new names, without dates: the second look tells",
            lists: [
                List(number: 0, count: 19), List(number: 0, count: 20), List(number: 0, count: 2, prefix: "n"),
                List(number: 0, count: 3, prefix: "n"), List(number: 0, count: 4, prefix: "n"),
            ], updates: [.changed, .older, .restarted, .changed]),
        Case(
            testDescription: "the same names again, without dates: a list that shrinks and goes on growing",
            lists: [
                List(number: 0, count: 8), List(number: 8, count: 8), List(number: 0, count: 1),
                List(number: 0, count: 2), List(number: 0, count: 3),
            ], updates: [.changed, .older, .restarted, .changed]),
        Case(
            testDescription: "numbers of before it was first looked at, from the beginning",
            lists: [List(number: 70, count: 8), List(number: 0, count: 1), List(number: 0, count: 2)],
            updates: [.restarted, .changed]),
        Case(
            testDescription: "the same names again in a list that keeps all, without dates",
            lists: [List(number: 0, count: 50), List(number: 0, count: 2), List(number: 0, count: 3)],
            updates: [.older, .restarted]),
        Case(
            testDescription: "a list that shrinks and comes back is no restart",
            lists: [
                List(number: 0, count: 50), List(number: 0, count: 2), List(number: 0, count: 51),
                List(number: 0, count: 3),
            ], updates: [.older, .changed, .older]),
        Case(
            testDescription: "the same names again, without dates: discontinuity sequence numbers tell",
            lists: [
                List(number: 0, count: 9, discontinuitySequence: 3),
                List(number: 0, count: 6, discontinuitySequence: 4),
            ], updates: [.restarted]),
        Case(
            testDescription: "the clock of the encoder is set: no restart",
            lists: [List(number: 10, count: 8, began: 0), List(number: 11, count: 8, began: 900)],
            updates: [.changed]),
        Case(
            testDescription: "an encoder that begins anew with a clock that is wrong",
            lists: [
                List(number: 100, count: 4, began: 40_000), List(number: 0, count: 2, prefix: "n", began: 0),
                List(number: 1, count: 3, prefix: "n", began: 0),
            ], updates: [.restarted, .changed]),
    ]

    private static let falseDates: [Case] = [
        Case(
            testDescription: "the first date of each list is that of the start of the stream",
            lists: (0..<5).map { List(number: 10 + $0, count: 6, began: -4 * $0 + 400) },
            updates: [.changed, .changed, .changed, .changed]),
        Case(
            testDescription: "such dates, lists far apart",
            lists: [10, 11, 12, 40, 41].map { List(number: $0, count: 6, began: -4 * $0 + 400) },
            updates: [.changed, .changed, .changed, .changed]),
        Case(
            testDescription: "such dates, a ring of files",
            lists: (0..<5).map {
                List(number: 10 + $0, count: 6, prefix: "https://host/\($0)/s", began: -4 * $0 + 400)
            },
            updates: [.changed, .changed, .changed, .changed]),
        Case(
            testDescription: "such dates, edges out of step",
            lists: [10, 11, 12, 10, 13].map { List(number: $0, count: 6, began: -4 * $0 + 400) },
            updates: [.changed, .changed, .older, .changed]),
        Case(
            testDescription: "dates of the request",
            lists: (0..<4).map { List(number: 10 + $0, count: 6, began: 400 + 7 * $0) },
            updates: [.changed, .changed, .changed]),
        Case(
            testDescription: "a clock that was set once is believed again",
            lists: [
                List(number: 10, count: 6, prefix: "x", began: 400),
                List(number: 11, count: 6, prefix: "x", began: 40_000),
                List(number: 12, count: 6, prefix: "x", began: 40_000),
                List(number: 14, count: 6, segment: 13, prefix: "y", began: 40_000),
            ], updates: [.changed, .changed, .changed]),
    ]

    private static let renumberings: [Case] = [
        Case(
            testDescription: "numbers jump and the list does not",
            lists: [
                List(number: 100, count: 8, segment: 100, namesBySegment: true),
                List(number: 1101, count: 8, segment: 101, namesBySegment: true),
                List(number: 1102, count: 8, segment: 102, namesBySegment: true),
            ], updates: [.changed, .changed]),
        Case(
            testDescription: "numbers jump by two, tokens, dates",
            lists: [
                List(number: 100, count: 8, segment: 100, prefix: "a/x", began: 0),
                List(number: 102, count: 8, segment: 100, prefix: "b/y", began: 0),
            ], updates: [.unchanged]),
        Case(
            testDescription: "numbers go back and the list does not",
            lists: [
                List(number: 100, count: 8, segment: 100, namesBySegment: true),
                List(number: 7, count: 8, segment: 101, namesBySegment: true),
            ], updates: [.changed]),
    ]

    @Test(
        "playlists are matched by numbers, discontinuities and dates, then by file names",
        arguments: edges + restarts + falseDates + renumberings)
    func updates(_ test: Case) throws {
        var tracker = try Self.tracker(test.lists[0])
        var updates: [PlaylistTracker.Update] = []
        for (index, list) in test.lists.dropFirst().enumerated() {
            updates.append(try Self.update(&tracker, list, at: 4 * (index + 1)))
        }
        #expect(updates == test.updates)
    }

    @Test("if only the numbers jump, only really new segments are new", arguments: [101, 100, 104])
    func renumbered(segment: Int) throws {
        var tracker = try Self.tracker(List(number: 100, count: 8, segment: 100, namesBySegment: true))
        let last = tracker.position(at: 7)
        let list = List(number: 5000, count: 8, segment: segment, namesBySegment: true)
        let update = try Self.update(&tracker, list, at: 4)
        #expect(update == (segment == 100 ? .unchanged : .changed))
        #expect(tracker.index(of: last) == 107 - segment)
        #expect(tracker.start == .seconds(4 * (segment - 100)))
        // Initialization vectors use the server's sequence numbers.
        if segment != 100 { #expect(tracker.playlist.segments[0].mediaSequence == 5000) }
    }

    @Test("names that repeat cyclically prove nothing")
    func ring() throws {
        // The names s0 to s3 repeat.
        func list(_ number: Int) -> PlaylistText {
            PlaylistText(mediaSequence: number, segments: (number..<number + 3).map { .init("s\($0 % 4).ts") })
        }
        var tracker = try Self.tracker(List(number: 0, count: 3))
        for number in 1..<6 { #expect(try Self.update(&tracker, list(number), at: 4 * number) == .changed) }
        // The playlist is past all known segments, so the same names are new segments.
        #expect(try Self.update(&tracker, list(13), at: 40) == .changed)
        #expect(tracker.hasJumped)
        #expect(tracker.playlist.mediaSequence == 13)
    }

    private static func tracker(_ list: List) throws -> PlaylistTracker {
        PlaylistTracker(
            try list.text.parsed(), requestURL: "https://host/live.m3u8", url: "https://host/live.m3u8", start: .zero,
            loadBegan: .zero, now: .zero)
    }

    private static func update(
        _ tracker: inout PlaylistTracker, _ list: List, at seconds: Int
    ) throws -> PlaylistTracker.Update { try update(&tracker, list.text, at: seconds) }

    private static func update(
        _ tracker: inout PlaylistTracker, _ text: PlaylistText, at seconds: Int
    ) throws -> PlaylistTracker.Update {
        tracker.update(
            with: try text.parsed(), url: "https://host/live.m3u8", loadBegan: .seconds(seconds),
            now: .seconds(seconds))
    }
}
