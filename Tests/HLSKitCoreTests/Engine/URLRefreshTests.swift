import Testing

@testable import HLSKitCore

@Suite("When a fresh URL is asked for")
struct URLRefreshTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        /// What happened before the refusal.
        var before: @Sendable (inout URLRefresh) -> Void
        var status = 403
        var began = Duration.seconds(10)
        var isFirst = false
        var expected: URLRefresh.Verdict
        var testDescription: String { name }
    }

    private static let cause = PlayerError(code: .notFound, cause: "gone")

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

    @Test("what a refusal is taken for", arguments: cases)
    func verdict(_ test: Case) {
        var refresh = URLRefresh()
        test.before(&refresh)
        let error = LoadingError(code: .httpStatus, url: "https://a", status: test.status, text: "")
        #expect(refresh.verdict(on: error, began: test.began, isFirst: test.isFirst) == test.expected)
        let other = LoadingError(code: .timedOut, url: "https://a", text: "")
        #expect(refresh.verdict(on: other, began: test.began, isFirst: test.isFirst) == .stands)
    }

    @Test("a list is fresh that was asked for after the program's answer, once its playlist is here")
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
        #expect(refresh.refuse() == Self.cause)
        #expect(!refresh.isUnderWay)
    }
}
