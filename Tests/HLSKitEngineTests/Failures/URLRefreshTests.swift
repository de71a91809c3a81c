import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import TestSupport
import Testing

@testable import HLSKitEngine

@Suite("Requests for a fresh URL")
struct URLRefreshTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var before: @Sendable (inout URLRefresh) -> Void
        var status = 403
        var began = Duration.seconds(10)
        var isFirst = false
        var expected: URLRefresh.Verdict
        var testDescription: String { name }
    }

    private static let cause = HLSError(code: .notFound, cause: "gone")

    static let cases = [
        Case(name: "the first refusal", before: { _ in }, expected: .asks),
        Case(name: "a URL that is gone", before: { _ in }, status: 410, expected: .asks),
        Case(name: "another refusal", before: { _ in }, status: 404, expected: .stands),
        Case(name: "the first playlist, before anything was asked", before: { _ in }, isFirst: true, expected: .asks),
        Case(name: "while the program thinks", before: { $0.ask(because: cause) }, expected: .waits),
        Case(
            name: "the fresh URL itself", before: { $0.ask(because: cause) }, isFirst: true, expected: .stands),
        Case(
            name: "asked for before the fresh URL came",
            before: {
                $0.ask(because: cause)
                $0.renew(at: .seconds(11))
                $0.end()
            }, expected: .waits),
        Case(
            name: "media at the fresh URL",
            before: {
                $0.ask(because: cause)
                $0.renew(at: .seconds(9))
                $0.end()
            }, expected: .stands),
        Case(
            name: "media at a URL that was good",
            before: {
                $0.ask(because: cause)
                $0.renew(at: .seconds(9))
                $0.end()
                $0.prove(began: .seconds(9))
            }, expected: .asks),
        Case(
            name: "old media proves nothing",
            before: {
                $0.ask(because: cause)
                $0.renew(at: .seconds(9))
                $0.end()
                $0.prove(began: .seconds(8))
            }, expected: .stands),
    ]

    @Test("a refusal is classified by its status, its time and its request", arguments: cases)
    func verdict(_ test: Case) {
        var refresh = URLRefresh()
        test.before(&refresh)
        let error = LoadingError(code: .httpStatus, url: "https://a", status: test.status, text: "")
        #expect(refresh.verdict(on: error, began: test.began, isFirst: test.isFirst) == test.expected)
        let other = LoadingError(code: .timedOut, url: "https://a", text: "")
        #expect(refresh.verdict(on: other, began: test.began, isFirst: test.isFirst) == .stands)
    }

    @Test("a playlist is fresh if it was requested after the app's answer and its playlist arrived")
    func freshness() {
        var refresh = URLRefresh()
        #expect(!refresh.isFresh(.seconds(10)))
        refresh.ask(because: Self.cause)
        refresh.renew(at: .seconds(10))
        #expect(!refresh.isFresh(.seconds(10)))
        refresh.end()
        #expect(refresh.isFresh(.seconds(10)))
        #expect(!refresh.isFresh(.seconds(9)))
        refresh.ask(because: Self.cause)
        let refused = LoadingError(code: .refused, url: "https://a", text: "no ticket")
        #expect(refresh.refusal == nil)
        refresh.refuse(because: refused)
        #expect(refresh.refusal?.code == Self.cause.code)
        #expect(refresh.refusal?.detail == "no fresh URL: no ticket")
        #expect(!refresh.isUnderWay)
        let forbidden = LoadingError(code: .httpStatus, url: "https://a", status: 403, text: "")
        #expect(refresh.verdict(on: forbidden, began: .seconds(20), isFirst: false) == .waits)
    }

    @Test("an expired key URL is reported as a key error")
    func keys() {
        let error = LoadingError(code: .httpStatus, url: "https://a", status: 403, text: "")
        let key = RequestPurpose.resource(ResourceID(kind: .key, url: "k"), .main)
        #expect(URLRefresh.cause(of: error, for: key, hasOpened: true).code == .contentKey)
        #expect(URLRefresh.cause(of: error, for: .mediaPlaylist(.main), hasOpened: true).code == .notFound)
        #expect(URLRefresh.cause(of: error, for: .firstPlaylist, hasOpened: false).code == .notFound)
    }

    enum List: Sendable, CaseIterable { case nothing, media, small, large }

    private static func multivariant(_ list: List) throws -> MultivariantPlaylist? {
        guard list == .small || list == .large else { return nil }
        let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=\(list == .small ? 1000 : 2000)\nv.m3u8\n"
        guard case .multivariant(let playlist) = try Playlist(parsing: Array(text.utf8), url: "https://host/all")
        else { return nil }
        return playlist
    }

    @Test("a fresh URL is accepted for the same stream only", arguments: List.allCases, List.allCases)
    func fresh(old: List, new: List) throws {
        guard new != .nothing else { return }
        let playlist: Playlist
        if let multivariant = try Self.multivariant(new) {
            playlist = .multivariant(multivariant)
        } else {
            playlist = .media(try PlaylistText.numbered(0, count: 2).parsed())
        }
        let loaded = LoadedPlaylist(playlist: playlist, url: "https://host/all", byteCount: 9, warnings: [])
        let fresh = URLRefresh.FreshPlaylist(
            loaded, after: try Self.multivariant(old), hasOpened: old != .nothing, hasVariant: true)
        switch fresh {
        case .first: #expect(old == .nothing)
        case .media, .multivariant: #expect(old == new)
        case .otherStream: #expect(old != new && old != .nothing)
        }
    }
}
