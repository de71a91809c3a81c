import HLSKitCore
import Testing

@testable import HLSGetMonitor

@Suite("Checking playlists that are not played")
struct ListRoundsTests {
    private static func master(_ names: String...) throws -> MultivariantPlaylist {
        let text = "#EXTM3U\n" + names.map { "#EXT-X-STREAM-INF:BANDWIDTH=1\n\($0)\n" }.joined()
        return try MultivariantPlaylist(parsing: text, url: "https://host/main.m3u8")
    }

    private static func list(_ number: Int, ends: Bool = false) throws -> Playlist {
        let end = ends ? "#EXT-X-ENDLIST\n" : ""
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:\(number)\n#EXTINF:4,\na\n" + end
        return .media(try MediaPlaylist(parsing: text, url: "https://host/l.m3u8"))
    }

    private static let missing = HLSError(code: .notFound, cause: "not found", detail: "HTTP 404")

    @Test("playlists are checked in turn, and a failed one is checked again between the others")
    func turns() throws {
        var rounds = ListRounds()
        let none = rounds.turn()
        #expect(none == nil)
        rounds.take(try Self.master("a", "b", "c", "a"))
        let urls = ["a", "b", "c"].map { "https://host/\($0)" }
        let turns = (0..<4).map { _ in rounds.turn() }
        #expect(turns == [urls[0], urls[1], urls[2], urls[0]])
        let first = rounds.note(urls[0], .failure(Self.missing), staleFactor: 3.5, at: .zero)
        #expect(first == nil, "once is no sign")
        let between = (0..<3).map { _ in rounds.turn() }
        #expect(between == [urls[0], urls[1], urls[0]])
        let second = rounds.note(urls[0], .failure(Self.missing), staleFactor: 3.5, at: .seconds(10))
        #expect(second?.text == "a: not found (HTTP 404)")
        let back = rounds.note(urls[0], .success(try Self.list(1)), staleFactor: 3.5, at: .seconds(20))
        #expect(back == nil)
        let after = (0..<3).map { _ in rounds.turn() }
        #expect(after == [urls[2], urls[0], urls[1]])
        rounds.take(try Self.master("a"))
        let single = rounds.turn()
        #expect(single == nil)
    }

    @Test("a playlist that stops updating is reported after a while; an ended one is not")
    func silence() throws {
        var rounds = ListRounds()
        rounds.take(try Self.master("a", "b"))
        func look(_ url: String, _ number: Int, ends: Bool = false, at seconds: Int) throws -> String? {
            rounds.note(url, .success(try Self.list(number, ends: ends)), staleFactor: 3.5, at: .seconds(seconds))?.code
        }
        let still = try [0, 20, 40, 60].map { try look("a", 7, at: $0) }
        #expect(still == [nil, nil, nil, "staleLive"])
        let back = try look("a", 8, at: 70)
        #expect(back == nil)
        let ended = try [0, 20, 40, 60, 80].map { try look("b", 7, ends: true, at: $0) }
        #expect(ended.allSatisfy { $0 == nil })
    }

    @Test("a missing variant degrades a playing stream and does not affect a stopped one")
    func health() {
        var health = StreamHealth()
        let failure = FailureName(code: "http_404", text: "b: not found")
        _ = health.handle(.began, at: .zero)
        _ = health.handle(.playing, at: .seconds(1))
        _ = health.handle(.list("b", failure), at: .seconds(2))
        #expect(health.current == .degraded && health.reason(at: .seconds(2)) == "variants: b: not found")
        _ = health.handle(.list("a", nil), at: .seconds(3))
        #expect(health.current == .degraded)
        _ = health.handle(.list("b", nil), at: .seconds(4))
        #expect(health.current == .up && health.allTroubles.isEmpty)
        _ = health.handle(.failed(failure), at: .seconds(5))
        _ = health.handle(.list("b", failure), at: .seconds(6))
        #expect(health.allTroubles == [.failed])
    }
}
